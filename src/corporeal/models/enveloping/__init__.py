"""Corrective enveloping that depends on the person (Allen 2006)."""
