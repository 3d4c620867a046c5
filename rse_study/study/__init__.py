"""A study: a question in YAML, the space it searches, and the check that every edge of that space is a valid trial."""
