"""TextAttack's PWWS at the other end of a pipe: run by an interpreter of an environment with TextAttack, not by ours.

Imports nothing of this project and downloads nothing. A JSON object a line, first {"versions"}. An input comes as
{"text", "label", "traced"}; {"texts"} goes out wherever the victim is wanted, {"rows"} comes back; what the attack came
to goes out last. The only argument is the precision of the victim's answers: float64, or float32 as in TextAttack's own
wrappers.
"""

import importlib.metadata
import json
import os
import platform
import sys

OUTCOMES = dict(
    SuccessfulAttackResult="succeeded", FailedAttackResult="failed", SkippedAttackResult="skipped"
)


class Pipe:
    """Lines of JSON. What libraries print goes where errors go, not in between."""

    def __init__(self):
        self._heard = sys.stdin
        self._said = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def say(self, content):
        self._said.write(json.dumps(content) + "\n")
        self._said.flush()

    def hear(self):
        """None where nobody is there any more."""
        line = self._heard.readline()
        return json.loads(line) if line else None


def main():
    pipe = Pipe()
    attack = build(pipe, precision=sys.argv[1])
    names = ("textattack", "nltk", "numpy", "torch", "transformers")
    versions = {
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in names},
    }
    pipe.say({"versions": versions})
    while (asked := pipe.hear()) is not None:
        pipe.say(answer(attack, asked))


def build(pipe, precision):
    """The published recipe, untouched, around a model that asks the pipe."""
    import nltk

    nltk.download = lambda *args, **kwargs: (
        True
    )  # NLTK_DATA has WordNet and the stop words: all that PWWS reads
    import torch
    from nltk.corpus import wordnet
    from textattack.attack_recipes import PWWSRen2019
    from textattack.models.wrappers import ModelWrapper

    wordnet.ensure_loaded()
    wordnet.langs = lambda: ["eng"]  # asked once, whether English is there; would open other languages' files

    class Asked(ModelWrapper):
        model = None

        def __call__(self, texts):
            pipe.say({"texts": list(texts)})
            heard = pipe.hear()
            if heard is None:
                sys.exit("nobody answers")
            return torch.tensor(heard["rows"], dtype=getattr(torch, precision))

    return PWWSRen2019.build(Asked())


def answer(attack, asked):
    """What the attack came to, and its trace where it is to be traced."""
    steps = []
    original = attack.goal_function.get_results

    def noted(texts, *args, **kwargs):
        steps.append([[min(text.attack_attrs["newly_modified_indices"]), text.text] for text in texts])
        return original(texts, *args, **kwargs)

    attack.search_method.get_goal_results = noted if asked["traced"] else original
    result = attack.attack(asked["text"], asked["label"])
    before, after = result.original_result, result.perturbed_result
    return {
        "outcome": OUTCOMES[type(result).__name__],
        "adversarial": after.attacked_text.text,
        "original_scores": before.raw_output.tolist(),
        "adversarial_scores": after.raw_output.tolist(),
        "num_queries": result.num_queries,
        "words": before.attacked_text.words,
        "changed": sorted(map(int, after.attacked_text.attack_attrs["modified_indices"])),
        "steps": steps,
    }


if __name__ == "__main__":
    main()
