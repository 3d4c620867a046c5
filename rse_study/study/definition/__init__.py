"""What a study file says, and how it is read."""
