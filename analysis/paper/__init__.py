"""The four papers as data, read by `tables`."""
