"""Neural soft tissue (Casas 2018), and a recurrent network that stays stable."""
