"""A figure is a data function (a frame) and a drawing function (a plotly figure)."""
