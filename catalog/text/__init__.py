"""Pure text functions."""
