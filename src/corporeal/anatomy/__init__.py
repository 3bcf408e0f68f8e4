"""Inside the body: bone, muscle and fat layers from one surface."""
