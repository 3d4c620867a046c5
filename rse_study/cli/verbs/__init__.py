"""The bodies of all commands, and their signatures: a file a topic."""
