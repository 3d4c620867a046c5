"""Searches by their ledger: race, budget, ablation path, early stopping, choice. Pure functions of records."""
