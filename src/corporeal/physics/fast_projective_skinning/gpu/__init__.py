"""Fast Projective Skinning on a device (JAX): whole clips and crowds as one program."""
