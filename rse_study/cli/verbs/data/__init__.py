"""The bodies of `data list`, `data verify` and `data fetch`."""
