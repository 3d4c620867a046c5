"""Rows compared with rows: intervals, criterion, verdicts, claims, effects."""
