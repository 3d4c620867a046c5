"""Studies that ship with the platform, as YAML files: `importlib.resources.files("search_spaces")`."""
