"""Checks of a study before it starts, which report every problem at once."""
