"""Evaluations that ask for more than vectors: weights are fine-tuned, texts attacked. registry.py has all by name."""
