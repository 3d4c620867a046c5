"""A price before anything alike has run here: from the hours that somebody else's machine took for the base."""

from dataclasses import replace

from rse_study.study.checking.validation import Checked
from rse_study.study.planning.data_sizes import Sizes
from rse_study.study.planning.throughput import Rates, Setting, Timed
from rse_study.study.planning.workload import effort_of, shape_of


def with_told_hours(rates: Rates, checked: Checked, sizes: Sizes) -> Rates:
    """`rates`, and where they know nothing of the base's encoder on such a device, `budget.hours_per_cell`."""
    base, resources = checked.study.base, checked.study.resources
    told = checked.study.budget.hours_per_cell
    if told is None or rates.seconds_per_work(shape_of(base), resources) is not None:
        return rates
    setting = Setting(shape_of(base), resources.gpus > 0, resources.workers, resources.threads)
    work = effort_of(base, sizes).work
    timed = tuple(Timed(setting, hours * 3600, work) for hours in told)
    source = (
        f"budget.hours_per_cell: {told[0]:g} to {told[1]:g} hours for the base, on somebody else's machine"
    )
    return replace(rates, timed=(*rates.timed, *timed), source=source)
