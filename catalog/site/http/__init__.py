"""Requests, responses, and the middleware around them."""
