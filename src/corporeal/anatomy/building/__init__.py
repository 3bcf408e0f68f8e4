"""How a layered template is made from a skin and the bones placed inside it (section 4.2.2)."""
