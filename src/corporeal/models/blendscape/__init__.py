"""BlendSCAPE: triangle deformations by pose and person, stitched (Hirshberg 2012)."""
