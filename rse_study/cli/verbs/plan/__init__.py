"""The plan of a study: counted, priced, refused where it passes a limit."""
