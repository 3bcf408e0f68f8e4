"""Projective Dynamics on a device (JAX): the equations of `solver.reference` in float32."""
