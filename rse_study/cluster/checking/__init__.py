"""Offline checks that a cluster can be created and can run a study."""
