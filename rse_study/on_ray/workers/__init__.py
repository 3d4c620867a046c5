"""Processes that train and score cells."""
