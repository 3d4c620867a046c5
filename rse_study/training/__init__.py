"""The training loop: pure torch, on any machine with torch and transformers."""
