"""DMPL: dynamic blend shapes on SMPL (Loper 2015, section 6)."""
