"""Pure functions that turn a spec and a job into files for external programs."""
