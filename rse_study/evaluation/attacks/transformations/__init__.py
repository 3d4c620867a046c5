"""Transformations: the words that may replace a word."""
