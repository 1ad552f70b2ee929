"""From the system's events to settled hints."""
