"""The features of a search, each a pure function of the ledger's records."""
