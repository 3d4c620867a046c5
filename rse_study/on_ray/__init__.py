"""Where a study runs: the only place that imports Ray or Optuna."""
