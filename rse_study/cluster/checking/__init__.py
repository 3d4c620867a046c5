"""Whether a cluster can be made, and whether a study can run on it: offline, every problem at once."""
