"""Fine-tuning of a whole encoder: for classes, or for gold similarities of pairs."""
