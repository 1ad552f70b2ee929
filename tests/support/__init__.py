"""Worlds, makers and checks that tests share."""
