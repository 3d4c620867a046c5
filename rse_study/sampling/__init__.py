"""Samplers and importance: the only floor that imports optuna."""
