"""Small solvers that know nothing of bodies."""
