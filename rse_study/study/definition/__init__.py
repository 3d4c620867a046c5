"""What a study file says: fields, axes, rows, the space around its base, and how it is read."""
