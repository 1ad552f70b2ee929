"""The one writer: rows, packages and indexes as one."""
