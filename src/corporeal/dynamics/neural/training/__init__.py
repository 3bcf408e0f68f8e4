"""How the networks are trained; imports JAX."""
