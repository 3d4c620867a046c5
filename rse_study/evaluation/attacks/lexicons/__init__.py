"""Words read from the data: stop words, synonyms, vectors, look-alikes."""
