"""From checked settings to a map: the three stages put together, and the search for a mixing."""
