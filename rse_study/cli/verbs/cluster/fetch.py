"""The body of `cluster fetch`: a study that ran elsewhere, brought here."""

from analysis.report import write_report
from rse_study.cli import parameters
from rse_study.cli.arguments.paths import require_folder
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import announce, command, in_store, suggest
from rse_study.cli.verbs.cluster.study_on_cluster import study_name
from rse_study.cluster.reading import read_cluster
from rse_study.cluster.submission_record import cluster_home, read_record
from rse_study.errors import InputError
from rse_study.on_ray.stored.ledger_copy import bring_study
from rse_study.storage.location import absolute
from rse_study.storage.storage import Storage


def fetch_study(
    cluster: parameters.ClusterArgument,
    study: parameters.OptionalStudyArgument,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Copy a study from its storage, and write its report.

    Also works while the study runs. Models are copied only when `export` or `evaluate` needs one.
    """
    spec, name = read_cluster(cluster), study_name(study)
    record = read_record(cluster_home(store, spec.name), name)
    location = (record.storage if record else "") or spec.storage
    if not location:
        remedy = "Its files lie on the cluster's own disk, in the folder of its job"
        raise InputError(f"{spec.name} has no storage", where="SPEC", remedy=remedy)
    folder = store / name
    require_folder(folder, where="--store")
    with ActivityBars() as bars:
        with bars.waiting(f"bringing {name}"):
            is_new = bring_study(Storage(absolute(location)), folder.resolve())
        with bars.waiting("writing the report"):
            report = write_report(folder)
    announce(f"{name}: {'copied its ledger' if is_new else 'the ledger here is up to date'} ({location})")
    announce(f"report: {report.resolve()}")
    suggest(command("status", name, *in_store(store)))
