"""TextAttack in a process of its own, under an interpreter of its own: it asks our victim over a pipe."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from rse_study.data.wordnet import FOLDER
from rse_study.errors import InputError
from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.single_input import Target
from rse_study.evaluation.attacks.victim import Victim

SCRIPT = Path(__file__).with_name("textattack_side.py")


class TextAttack:
    """PWWS of an installed TextAttack. The victim stays here: both attacks ask one and the same."""

    def __init__(self, interpreter: str, victim: Victim, data_dir: Path, precision: str = "float64") -> None:
        """Raises InputError where TextAttack does not start."""
        self._victim, self._interpreter = victim, interpreter
        self._home = tempfile.TemporaryDirectory()
        try:
            self._process = subprocess.Popen(
                [interpreter, str(SCRIPT), precision],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                env=_environment(data_dir, self._home.name),
            )
        except OSError as error:
            raise InputError(f"does not start: {error.strerror}", where=interpreter) from None
        self.versions: dict[str, str] = self._hear()["versions"]

    def attack(self, target: Target) -> AttackOutcome:
        """What the attack on one text comes to."""
        return outcome_of(target, self._answer(target, traced=False))

    def trace(self, target: Target) -> dict[str, Any]:
        """The same once more, with every query: `words`, and `steps` of [place, text] in one query."""
        return self._answer(target, traced=True)

    def __enter__(self) -> "TextAttack":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        self._process.communicate()
        self._home.cleanup()

    def _answer(self, target: Target, traced: bool) -> dict[str, Any]:
        (text,) = target.text
        self._say({"text": text, "label": int(target.gold), "traced": traced})
        while "texts" in (heard := self._hear()):
            rows = self._victim([(text,) for text in heard["texts"]])
            self._say({"rows": rows.tolist()})
        return heard

    def _say(self, content: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(content) + "\n")
        self._process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            rule = f"it ended with code {self._process.wait()}, in words of its own above"
            remedy = "Give the python of an environment with textattack==0.3.10"
            raise InputError("no TextAttack", where=self._interpreter, rule=rule, remedy=remedy)
        heard: dict[str, Any] = json.loads(line)
        return heard


def outcome_of(target: Target, answer: dict[str, Any]) -> AttackOutcome:
    """What TextAttack's side said, as an outcome of ours."""
    return AttackOutcome(
        index=target.index,
        original=target.text,
        adversarial=(answer["adversarial"],),
        outcome=answer["outcome"],
        label=target.gold,
        original_scores=tuple(answer["original_scores"]),
        adversarial_scores=tuple(answer["adversarial_scores"]),
        num_queries=answer["num_queries"],
        num_words=len(answer["words"]),
        changed=tuple(answer["changed"]),
    )


def _environment(data_dir: Path, home: str) -> dict[str, str]:
    """Nothing of ours on its path, nothing to download, nothing left behind."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | {
        "NLTK_DATA": str((data_dir / FOLDER).resolve()),
        "TA_CACHE_DIR": home,
        "FLAIR_CACHE_ROOT": home,
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
