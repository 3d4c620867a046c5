"""Searches compared on surfaces with a simulated clock."""
