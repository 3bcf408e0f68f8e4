"""Things in the world that flesh cannot enter: shapes, places, and the contacts they make."""
