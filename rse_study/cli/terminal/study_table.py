"""The table of a study, as `run` shows it at its end."""

from analysis.tables import as_text
from rse_study.cli.terminal.screen import announce, print_table
from rse_study.results.reader import Reader


def show_table(reader: Reader, see_all: str, is_wide: bool = False) -> None:
    """Print a study's table; seeds, then SDs, are left out before means."""
    study, table = reader.study(), as_text(reader)
    label = study.objective.label or study.objective.metric
    if study.kind == "grid":
        announce(f"{label}:")
        table = table.rename(columns={name: name.removeprefix(f"{label} ") for name in table.columns})
    seeds = [name for name in table.columns[::-1] if name.startswith("seed ")]
    deviations = [name for name in table.columns[::-1] if name.endswith(" SD") and "±" not in name]
    print_table(table, see_all, droppable=[*seeds, *deviations, "time", "step"], is_wide=is_wide)
