"""A study's folder and its copies in storage."""
