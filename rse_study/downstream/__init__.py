"""Evaluations that need an encoder's weights: they fine-tune it or attack it."""
