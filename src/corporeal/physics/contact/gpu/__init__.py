"""Detection and pairing of contacts, colliders, wind and grabs on a device (JAX)."""
