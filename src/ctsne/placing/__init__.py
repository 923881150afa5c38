"""New points in a finished map."""
