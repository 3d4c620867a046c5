"""The files of a study's folder: the ledger, its backup, and what workers leave."""
