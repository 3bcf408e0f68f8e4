"""Bodies laid onto surfaces that came from elsewhere."""
