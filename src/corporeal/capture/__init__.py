"""The virtual 4D scanner: people do what protocols ask, physics moves them, all is kept."""
