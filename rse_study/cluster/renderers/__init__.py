"""Pure functions from a spec and a job to files for external programs."""
