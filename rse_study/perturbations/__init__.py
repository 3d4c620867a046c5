"""Perturbations of training time, in embedding space."""
