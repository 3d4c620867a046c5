"""The kinds of evaluation, each an object with its data: evaluations.py says what they have in common."""
