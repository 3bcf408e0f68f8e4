"""From the simulated surface back to the full skin (Komaritzan 2022, section 3.2.6)."""
