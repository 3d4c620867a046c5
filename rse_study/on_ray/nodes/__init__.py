"""Ray, its nodes, and the cells that are lost with them."""
