"""A study: a question in YAML, checked, priced, and decided by pure functions."""
