"""The state of a study: read from its ledger, told in lines or JSON."""
