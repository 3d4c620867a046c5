"""A study as tidy pandas frames, for notebooks."""
