"""Word lists from the data folder: stop words, synonyms, vectors, look-alikes."""
