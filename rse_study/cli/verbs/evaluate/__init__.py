"""An encoder evaluated: its vectors, its classifiers, both under attack."""
