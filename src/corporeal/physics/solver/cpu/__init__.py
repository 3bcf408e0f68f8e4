"""Projective Dynamics compiled for the CPU: the equations of `solver.reference` in float32."""
