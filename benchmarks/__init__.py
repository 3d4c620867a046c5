"""What a step, an embedding, an attack and a study cost here: `make bench`."""
