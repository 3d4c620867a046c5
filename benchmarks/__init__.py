"""Benchmarks of a training step, an embedding, an attack and a study: `make bench`."""
