"""A price before anything alike has run here: from the hours that somebody else's machine took for the base."""

from dataclasses import replace

from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.throughput import Setting, Throughput, TimedWork
from rse_study.study.planning.workload import shape_of, workload_of


def with_stated_hours(rates: Throughput, checked: CheckedStudy, sizes: DataSizes) -> Throughput:
    """`rates`, and where they know nothing of the base's encoder on such a device, `budget.hours_per_cell`."""
    base, resources = checked.study.base, checked.study.resources
    told = checked.study.budget.hours_per_cell
    if told is None or rates.seconds_per_work(shape_of(base), resources) is not None:
        return rates
    setting = Setting(shape_of(base), resources.gpus > 0, resources.workers, resources.threads)
    work = workload_of(base, sizes).work
    timed = tuple(TimedWork(setting, hours * 3600, work) for hours in told)
    source = (
        f"budget.hours_per_cell: {told[0]:g} to {told[1]:g} hours for the base, on somebody else's machine"
    )
    return replace(rates, timed=(*rates.timed, *timed), source=source)
