"""How character vectors are learned from registrations."""
