"""The body of every command: a file a verb, or a folder where it has companions."""
