"""Cameras that see posed skin."""
