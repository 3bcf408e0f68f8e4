"""Flesh that moves by physics: volumetric skin, Projective Dynamics, coupling to a skeleton."""
