"""Where files lie that all nodes of a cluster need: a folder or a URL."""
