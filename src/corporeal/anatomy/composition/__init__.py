"""How much of a body is fat and muscle, from its surface, its sex and its age."""
