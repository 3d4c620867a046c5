"""Cells in the order in which they run; imports neither ray nor optuna."""
