"""Dyna: dynamic triangle deformations on BlendSCAPE (Pons-Moll 2015)."""
