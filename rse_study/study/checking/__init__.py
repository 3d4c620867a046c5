"""Whether a study can run: every problem at once, before anything starts."""
