"""Description, rendering and control of clusters from outside, without Ray."""
