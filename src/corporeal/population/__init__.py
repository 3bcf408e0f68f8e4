"""People as a population has them: drawn from learned statistics, realised as bodies, stored."""
