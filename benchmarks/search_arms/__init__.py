"""A comparison of searches on surfaces with a simulated clock."""
