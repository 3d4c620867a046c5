"""Attacks: text is changed at evaluation time until a victim errs."""
