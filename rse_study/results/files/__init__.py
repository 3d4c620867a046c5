"""The files of a study's folder: the ledger, and sidecars that rebuild it."""
