"""Poses and shapes of a body model that best meet registrations."""
