"""The database file: connection, lock, migrations, requests."""
