"""Whether a cluster can be made and a study can run on it, offline."""
