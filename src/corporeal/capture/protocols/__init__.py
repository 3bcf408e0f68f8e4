"""What people are asked to do: one protocol a file."""
