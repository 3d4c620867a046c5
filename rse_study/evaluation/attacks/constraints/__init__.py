"""Constraints: which words may be changed, and which changes are good enough."""
