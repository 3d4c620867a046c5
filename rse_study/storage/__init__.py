"""Shared storage for all nodes of a cluster: a folder or a URL."""
