"""Our attacks beside TextAttack's own, input by input."""
