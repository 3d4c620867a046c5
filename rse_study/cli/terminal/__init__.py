"""What draws and writes on the terminal: lines, tables, bars, errors, next steps."""
