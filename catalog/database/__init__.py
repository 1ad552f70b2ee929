"""Database file: connections, lock, migrations and requests."""
