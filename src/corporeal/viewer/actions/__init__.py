"""What the page may ask of its session, one file a panel."""
