"""The body of every command: one file a verb, its companions named after it."""
