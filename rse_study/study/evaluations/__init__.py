"""Evaluations that ask for more than vectors: weights are fine-tuned, texts are attacked. known.py has all by name."""
