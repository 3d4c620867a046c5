"""Arguments: declared, completed by shells, resolved, checked before a verb begins."""
