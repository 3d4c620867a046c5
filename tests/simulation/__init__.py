"""A simulation of whole studies: real queue, ledger and storage; simulated clock, Ray, disk and training."""
