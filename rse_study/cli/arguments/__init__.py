"""Arguments: declared, completed, resolved, and checked before a verb begins."""
