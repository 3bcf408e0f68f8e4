"""Constraints that the flesh does not use: they check the solver on problems with closed forms."""
