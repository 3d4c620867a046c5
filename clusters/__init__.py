"""Clusters that ship with the platform, as YAML files: `importlib.resources.files("clusters")`."""
