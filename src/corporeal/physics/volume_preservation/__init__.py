"""Volume preservation: regions of flesh keep their volume by smooth pressures."""
