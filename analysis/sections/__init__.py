"""The sections of a report as HTML, each a function of its contents."""
