"""Requests, responses and what holds for all of them."""
