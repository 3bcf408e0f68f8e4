"""Every metric once: used by tests, benchmarks and training."""
