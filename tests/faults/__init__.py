"""What the platform survives: processes killed, ledgers lost, losses lost."""
