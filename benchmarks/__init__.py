"""Benchmarks of training steps, embeddings, attacks and studies: `make bench`."""
