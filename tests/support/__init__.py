"""Data, services and checks that tests share."""
