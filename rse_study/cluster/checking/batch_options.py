"""Checks of the options that a spec hands on to sbatch."""

from collections.abc import Iterator

from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.renderers.sbatch import directives
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError
from rse_study.registry import did_you_mean

NAMES = """
account acctg-freq array batch bb bbf begin chdir cluster-constraint clusters comment constraint container
contiguous core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency
distribution error exclude exclusive export export-file extra-node-info get-user-env gid gpu-bind gpu-freq
gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint hold ignore-pbs input job-name
kill-on-invalid-dep licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus
network nice no-kill no-requeue nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node
ntasks-per-socket open-mode output overcommit oversubscribe partition power prefer priority profile propagate
qos quiet reboot requeue reservation signal sockets-per-node spread-job switches thread-spec threads-per-core
time time-min tmp tres-per-task uid use-min-nodes verbose wait-all-nodes wckey
"""
"""long options of sbatch 22.05 that a script may contain"""
OPTIONS = frozenset(NAMES.split())


def check_batch_options(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield options that are not written out, or that the spec sets twice."""
    words = _words(spec)
    names = [word.lstrip("-").partition("=")[0] for word in words]
    for word, name in zip(words, names, strict=True):
        if not word.startswith("--"):
            rule = "an option is written out: --name=value"
            yield InputError(f"options: {word}", where=where, rule=rule, remedy=did_you_mean(name, OPTIONS))
    for name in sorted({name for name in names if names.count(name) > 1}):
        rule, remedy = "is set by the spec already", "Use the spec's own key, or take it away"
        yield InputError(f"options: --{name}", where=where, rule=rule, remedy=remedy)


def check_option_names(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield options that sbatch 22.05 does not know.

    A newer one may: only `validate` asks.
    """
    for word in _words(spec):
        name = word.lstrip("-").partition("=")[0]
        if word.startswith("--") and name not in OPTIONS:
            rule, remedy = "no such option of sbatch", did_you_mean(name, OPTIONS)
            yield InputError(f"options: {word}", where=where, rule=rule, remedy=remedy)


def _words(spec: ClusterSpec) -> list[str]:
    if not isinstance(spec, SlurmCluster):
        return []
    return ["".join(option.split()[:1]) for option in directives(spec, "rse-study")]
