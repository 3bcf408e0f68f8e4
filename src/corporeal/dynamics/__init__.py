"""What has a memory: dynamics learned from captures, over several representations of a body."""
