"""Learned flesh: models whose frames depend on those before."""
