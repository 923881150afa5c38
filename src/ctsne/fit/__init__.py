"""From parameters to a map: checks, the three stages, and the search for a mixing."""
