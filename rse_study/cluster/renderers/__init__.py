"""From a spec and a job to files for other programs: pure functions."""
