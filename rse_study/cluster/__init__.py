"""Clusters described, rendered and driven from outside: nothing here imports Ray."""
