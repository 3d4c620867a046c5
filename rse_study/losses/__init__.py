"""Losses: pure functions of tensors, no model inside."""
