"""Validation of a parsed skill: fields, rules, profiles and the verdict."""
