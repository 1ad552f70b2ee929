"""Retention and quota: how much of the past and of the disk packages and history may take."""
