"""What words are replaced by."""
