"""Runs studies on Ray: the only package that imports it."""
