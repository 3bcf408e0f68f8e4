"""Layered physics (section 4.3.3): fat and muscle move by Projective Dynamics over real bones."""
