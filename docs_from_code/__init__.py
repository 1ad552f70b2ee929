"""Generators of the reference pages in docs/, and checks of the built documentation."""
