"""Runs studies on Ray; no other package imports it."""
