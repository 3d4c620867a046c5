"""Evaluations that need weights: they fine-tune an encoder, or attack it.

registry.py has all evaluations by name.
"""
