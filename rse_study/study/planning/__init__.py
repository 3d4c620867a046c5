"""What is left of a study and what it costs, before it runs."""
