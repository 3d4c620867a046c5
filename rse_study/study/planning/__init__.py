"""Plan and price of what is left of a study, before it runs."""
