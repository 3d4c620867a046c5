"""Slow float64 references written from the papers: RobustSentEmbed eqs 2-10, L2P-CSR eqs 1-8."""
