"""Definition of a study: its file, and how it is read."""
