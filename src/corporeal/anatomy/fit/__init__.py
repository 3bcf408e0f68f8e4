"""The layered template fitted into a person's skin (section 4.2.4)."""
