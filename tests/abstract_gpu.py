"""A GPU to compile for that need not be there; from JAX 0.12 on it must be said which it is."""

import jax


def an_h200() -> jax.sharding.AbstractMesh:
    """For `jax.sharding.use_abstract_mesh`, around tracing and lowering."""
    device = jax.sharding.AbstractDevice("NVIDIA H200", None, "gpu")
    return jax.sharding.AbstractMesh((), (), abstract_device=device)
