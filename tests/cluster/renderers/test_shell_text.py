"""Bash and sbatch can read what is rendered for them."""

import re

from rse_study.cluster.checking.batch_options import OPTIONS
from rse_study.cluster.checking.shell_lines import syntax_error
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.golden_files import VARIANTS, rendered

DIRECTIVE = re.compile(r"^#SBATCH\s+(\S+)", re.MULTILINE)
COMMANDS = ("setup_commands", "head_start_ray_commands", "worker_start_ray_commands")
BATCH = [variant for variant in VARIANTS if variant.startswith("slurm")]


def shell_texts(variant):
    """Every script of a variant, and every command of its launcher's file."""
    for file in rendered(variant):
        if file.name.endswith(".yaml"):
            content = parse_yaml(file.text, where=file.name)
            yield from (command for key in COMMANDS for command in content.get(key, ()))
        else:
            yield file.text


@cases("variant", [variant for variant in VARIANTS if not variant.startswith("kuberay")])
def test_bash_reads_every_script_and_command(variant):
    texts = list(shell_texts(variant))
    assert texts
    assert [said for said in map(syntax_error, texts) if said] == []


@cases("variant", BATCH)
def test_a_directive_is_written_out_known_to_sbatch_and_set_once(variant):
    (file,) = rendered(variant)
    words = DIRECTIVE.findall(file.text)
    names = [word.removeprefix("--").partition("=")[0] for word in words]
    assert all(word.startswith("--") for word in words)
    assert set(names) <= OPTIONS
    assert sorted(names) == sorted(set(names))
