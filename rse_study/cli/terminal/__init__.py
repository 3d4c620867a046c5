"""The terminal: lines, tables, bars, errors and next steps written on it."""
