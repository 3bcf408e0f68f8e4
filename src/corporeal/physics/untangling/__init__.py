"""Untangling: elements that are flat or inside out are pushed open."""
