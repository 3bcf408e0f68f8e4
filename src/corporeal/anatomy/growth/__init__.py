"""Fat and muscle that grow and shrink (section 4.3.4)."""
