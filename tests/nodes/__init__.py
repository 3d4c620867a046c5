"""Several machines on one: network namespaces, Slurm and an autoscaler over them."""
