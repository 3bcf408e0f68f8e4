"""Contacts of skin with skin and with the world (Komaritzan 2022, section 3.2.5)."""
