"""The table of a study, as `run` shows it at its end."""

from analysis.scores import as_text
from rse_study.cli.terminal.screen import announce, print_table
from rse_study.results.reader import Reader


def show_table(reader: Reader, see_all: str, is_wide: bool = False) -> None:
    """Print a study's table; columns of seeds are left out first."""
    study, table = reader.study(), as_text(reader)
    label = study.objective.label or study.objective.metric
    if study.kind == "grid":
        announce(f"{label}:")
        table = table.rename(columns={name: name.removeprefix(f"{label} ") for name in table.columns})
    seeds = [name for name in table.columns[::-1] if name.startswith("seed ")]
    print_table(table, see_all, droppable=[*seeds, "time", "step"], is_wide=is_wide)
