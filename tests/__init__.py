"""The tests, which mirror the packages; helpers lie in `support`."""
