"""Figures: each has a data function (a frame) and a drawing function (plotly)."""
