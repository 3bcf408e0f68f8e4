"""Looks: skin, face, hair and clothes as data, and how they are put on a body."""
