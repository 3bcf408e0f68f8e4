"""Contacts of skin with skin and with the world (seed, section 3.2.5)."""
