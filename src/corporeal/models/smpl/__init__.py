"""SMPL: a skinned multi-person linear model (Loper et al. 2015)."""
