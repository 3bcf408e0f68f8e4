"""An atlas of one's own, bones and muscles as meshes, made into a layered template."""
