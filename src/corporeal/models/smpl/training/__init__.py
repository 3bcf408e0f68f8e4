"""Training SMPL from registrations (Loper et al. 2015, section 4)."""
