"""The studio: a local web page where bodies are shaped, moved, touched and taken away."""
