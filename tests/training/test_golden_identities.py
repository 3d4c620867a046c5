"""Identities on file: what was run under them is found again, whatever has been added to the code since.

`python -m tests.training.test_golden_identities` writes the file anew, once a move is meant.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rse_study.data import builtin
from rse_study.spec import Spec
from rse_study.training.materials import Materials, identity_of
from rse_study.training.trial import Trial

FILE = Path(__file__).with_name("identities.json")
PRINTS = {"corpus": "c", "base": "b", "dev": "d", "generator": "g"}
DEV = builtin.graded_pairs("dev")
MATERIALS = Materials(corpus=Path("corpus"), base="base", dev=DEV, fingerprints=PRINTS)
L2 = {"norm": "l2", "radius": 0.5, "given_for": "l2", "scope": "token", "strength": "literal"}
L1 = {"norm": "l1", "projection": "rescale"}
NO_ADVERSARY = {"pgd": {"num_steps": 0}, "fgsm": {"num_steps": 0}}
VIEWS = dict(lambda1=0.1, temperature=0.1, head="batch_norm", perturbed_tokens="all", second_positive="none")
VIEWS |= dict(delta_gradient="without_eta", inner_dropout="fresh", outer_dropout="shared_first")
MASKS = dict(phi=0.1, num_layers=1, step_size=0.25, sites="below_k")
OTHER_MASKS = dict(num_steps=2, tokens="none", features="shared", values="continual", token_step="sign")
ONLY = {"temperature": 0.1, "head": "none"}


def of(name: str = "robust_sent_embed", **settings: Any) -> dict[str, Any]:
    return {"method": {"name": name, **settings}}


# Every switch of a configuration stands off its default in at least one of them.
VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "SimCSE": of(blend=NO_ADVERSARY, lambda1=0, lambda2=0, head="none"),
    "l2": of(blend={"pgd": {"ball": L2}, "fgsm": {"ball": L2}}, token_level={"ball": L2}),
    "l1": of(blend={"pgd": {"ball": L1}, "fgsm": {"ball": L1}}, token_level={"ball": L1}),
    "steps of PGD and FGSM": of(
        blend={
            "pgd": {"num_steps": 3, "step_size": 2e-3, "sigma": 0.01},
            "fgsm": {"num_steps": 4, "step_size": 3e-3, "sigma": 0.01},
            **dict(rho=0.25, weighs="fgsm", trajectories="separate"),
        }
    ),
    "flipped": of(blend={"ascent": "flipped"}),
    "token level": of(
        token_level=dict(step_size=0.01, sigma=0.2, scaling="after", write_back="last", redraw="epoch"),
        z_adv_eta="with",
    ),
    "no token level": of(token_level={"presence": "none"}),
    "weakening masks": of(masks=MASKS),
    "replaced tokens": of(
        rtd=dict(share=0.3, positions="everywhere", choice="sample", reduction="sum", h="before_head"),
        lambda2=0.01,
    ),
    "views": of(**VIEWS, z_adv_negatives="included"),
    "hard negatives": {**of(hard_negatives="required"), "views": {"file": "triplets.tsv"}},
    "prompt": {"encoder": {"pooling": "prompt", "template": 'This sentence of "[X]" means [MASK].'}},
    "text before each sentence": {"encoder": {"prompt": "query: "}},
    "optimiser": dict(
        optimizer=dict(lr=1e-4, beta1=0.8, beta2=0.99, epsilon=1e-6, weight_decay=0.01, max_norm=0.5)
    ),
    "cosine": {"optimizer": {"schedule": "cosine"}},
    "warm-up": {"optimizer": {"schedule": "constant", "warmup": 0.06}},
    "by class": {"optimizer": {"class": "torch.optim:SGD", "settings": {"momentum": 0.9}}},
    "L2P-CSR": of("l2p_csr"),
    "L2P-CSR, masks": of("l2p_csr", masks=MASKS | OTHER_MASKS, **ONLY),
    "L2P-CSR, noise": of(
        "l2p_csr",
        perturbs="embeddings",
        noise=dict(num_steps=3, step_size=0.1, scale=0.01, gradient="raw", ball={"norm": "l2"}),
    ),
    "V-advCSE": of("v_adv_cse"),
    "V-advCSE, noise": of("v_adv_cse", r={"ascent": "noise"}),
    "V-advCSE, otherwise": of(
        "v_adv_cse", r={"num_steps": 2}, divergence="kl", output="similarities", weight=0.1, **ONLY
    ),
    "V-advCSE, with its ratio reported": of("v_adv_cse", ratio_every=10),
    "ConSERT": of("consert"),
    "ConSERT, otherwise": of(
        "consert",
        **dict(first="token_cutoff", second="adversarial", token_rate=0.3, feature_rate=0.1, dropout=True),
        **dict(noise={"step_size": 0.1}, temperature=0.2, head="linear_tanh"),
    ),
    "DCL": of("dcl"),
    "DCL, otherwise": of("dcl", norm="batch", share=0.3, decay=0.99, masked_lm=0.5, hidden=64, width=32),
    "ATCL": of("atcl"),
    "ATCL, otherwise": of("atcl", epsilon=0.5, weight=0.1, temperature=0.1, head="none"),
    "CT": of("ct"),
    "CT, otherwise": of("ct", num_negatives=3),
    "SG-OPT": of("sg_opt"),
    "SG-OPT, otherwise": of("sg_opt", temperature=0.05, weight=0.2, hidden=64),
    "replayed": dict(
        replayed=dict(recipe="pwws", reference="minilm", num_pairs=50, sides="both", max_queries=90, seed=3)
    ),
    "replayed, texts besides": dict(
        replayed={"recipe": "textfooler", "labelled": "MR", "num_texts": 100, "num_training": 300}
    ),
    "budget and selection": dict(
        budget={"unit": "steps", "amount": 100},
        selection={"dev": "builtin", "every": 20, "keep": "last"},
        **dict(batch_size=32, max_length=64, precision="bf16", report_every=5),
    ),
    "chunks": {"chunk_size": 8},
    "compiled": {"compiled": True},
    "graphed": {"graphed": True},
}
MOVED = "identity moved: declare neutral= for a new field, bump semantics for new numbers, or revert"


def trial(name: str) -> Trial:
    return Trial.model_validate(VARIANTS[name])


def identities() -> dict[str, str]:
    return {name: identity_of(trial(name), 7, MATERIALS) for name in VARIANTS}


def specs(spec: Spec) -> list[Spec]:
    """The spec and every one below it."""
    below = [getattr(spec, name) for name in type(spec).model_fields]
    return [spec, *(found for value in below if isinstance(value, Spec) for found in specs(value))]


def decisive(spec: Spec) -> list[Spec]:
    """Those that stand in the identity: at a neutral value a field and all below it are left out."""
    identity = spec.identity()
    below = [getattr(spec, name) for name in type(spec).model_fields if name in identity]
    return [spec, *(found for value in below if isinstance(value, Spec) for found in decisive(value))]


@cache
def decisive_kinds(name: str) -> set[type[Spec]]:
    return {type(spec) for spec in decisive(trial(name))}


def test_identities_are_those_on_file_and_all_different() -> None:
    on_file = json.loads(FILE.read_text())
    assert identities() == on_file, MOVED
    assert len(set(on_file.values())) == len(VARIANTS)


# The fingerprints of what they hold stand for the names of corpus, base and generator, and for how it was read.
BY_CONTENT = {
    "Corpus",
    "Builtin",
    "Rewrites",
    "Encoder.name",
    "Encoder.revision",
    "ReplacedTokenDetection.generator",
}
SPECS = [spec for name in VARIANTS for spec in specs(trial(name))]
CLASSES = sorted({type(spec) for spec in SPECS}, key=lambda kind: kind.__name__)
DECISIVE = [kind for kind in CLASSES if kind.__name__ not in BY_CONTENT]


def test_the_semantics_of_every_class_are_part_of_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identities()
    for kind in DECISIVE:
        holders = {name for name in VARIANTS if kind in decisive_kinds(name)}
        with monkeypatch.context() as patch:
            patch.setattr(kind, "semantics", kind.semantics + 1)
            after = identities()
        assert {name for name in VARIANTS if before[name] != after[name]} == holders, kind


def test_every_field_is_off_its_default_in_a_variant() -> None:
    for kind in DECISIVE:
        seen = [spec for spec in SPECS if type(spec) is kind]
        constant = {
            name
            for name in kind.model_fields
            if f"{kind.__name__}.{name}" not in BY_CONTENT
            and len({repr(getattr(spec, name)) for spec in seen}) < 2
        }
        only_one = {"name", "corpus"} | ({"head"} if kind.__name__ == "DCL" else set())
        assert constant <= only_one, kind


if __name__ == "__main__":
    FILE.write_text(json.dumps(identities(), indent=1) + "\n")
