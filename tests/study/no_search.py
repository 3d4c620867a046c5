"""Takes the search out of a study, so that a grid can stand there."""

ONLY_SEARCH = ("search", "num_trials", "sampler", "search_seed", "early_stopping", "confirm")
NO_SEARCH = [f"{name}=null" for name in ONLY_SEARCH]
