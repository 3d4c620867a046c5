"""Tasks as their sets are laid out; nothing is read here, and numpy not imported."""

from dataclasses import dataclass

from rse_study.registry import Registry

NLI_CLASSES = ("entailment", "neutral", "contradiction")
SUBSETS = {
    "STS12": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "STS13": ("FNWN", "headlines", "OnWN"),  # without SMT, which its licence withholds
    "STS14": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "STS15": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "STS16": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
HUB_NAME = "nyu-mll/glue"


@dataclass(frozen=True)
class GlueTask:
    """One task: its configuration in `datasets`, its columns, its classes."""

    config: str
    columns: tuple[str, ...]
    classes: tuple[str, ...]
    """empty: gold similarities from 0 to 5"""
    dev: tuple[str, ...] = ("validation",)

    @property
    def splits(self) -> tuple[str, ...]:
        return ("train", *self.dev)


_BOTH = ("sentence1", "sentence2")
_ENTAILED = ("entailment", "not_entailment")
GLUE: Registry[GlueTask] = Registry(
    "GLUE task",
    {
        "CoLA": GlueTask("cola", ("sentence",), ("unacceptable", "acceptable")),
        "SST-2": GlueTask("sst2", ("sentence",), ("negative", "positive")),
        "MRPC": GlueTask("mrpc", _BOTH, ("not_equivalent", "equivalent")),
        "STS-B": GlueTask("stsb", _BOTH, ()),
        "QQP": GlueTask("qqp", ("question1", "question2"), ("not_duplicate", "duplicate")),
        "MNLI": GlueTask(
            "mnli", ("premise", "hypothesis"), NLI_CLASSES, ("validation_matched", "validation_mismatched")
        ),
        "QNLI": GlueTask("qnli", ("question", "sentence"), _ENTAILED),
        "RTE": GlueTask("rte", _BOTH, _ENTAILED),
        "WNLI": GlueTask("wnli", _BOTH, ("not_entailment", "entailment")),
    },
)
