"""Copies of the published skills, for agents that follow no links or have no network."""
