"""Pages of studies and of attacks, and the files beside them."""
