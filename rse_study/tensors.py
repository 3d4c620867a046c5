"""Axis letters of every tensor signature, said once.

b sentences of this worker, g sentences of the global batch, l tokens, d features, p positives, k sites, v vocabulary.
Masks are bool, True = real token.
"""
