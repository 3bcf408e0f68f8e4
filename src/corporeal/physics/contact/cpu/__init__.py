"""Compiled detection, pairing and release of contacts."""
