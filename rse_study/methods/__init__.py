"""The registry of methods: every system of the papers, by its `name`."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Discriminator, Tag

from rse_study.methods.atcl import ATCL
from rse_study.methods.consert import ConSERT
from rse_study.methods.ct import CT
from rse_study.methods.dcl import DCL
from rse_study.methods.is_bert import ISBERT
from rse_study.methods.l2p_csr import L2PCSR
from rse_study.methods.method import Method
from rse_study.methods.robust_sent_embed import RobustSentEmbed
from rse_study.methods.sg_opt import SGOPT
from rse_study.methods.v_adv_cse import VAdvCSE

METHODS: dict[str, type[Method]] = {
    "robust_sent_embed": RobustSentEmbed,
    "l2p_csr": L2PCSR,
    "v_adv_cse": VAdvCSE,
    "consert": ConSERT,
    "dcl": DCL,
    "atcl": ATCL,
    "ct": CT,
    "sg_opt": SGOPT,
    "is_bert": ISBERT,
}
"""Classes by name, in the order of docs and messages; the first is the default."""
DEFAULT = next(iter(METHODS))


def _name_of(given: Any) -> Any:
    """Return the name that selects a method; files may leave the default out."""
    return given.get("name", DEFAULT) if isinstance(given, dict) else getattr(given, "name", DEFAULT)


if TYPE_CHECKING:
    AnyMethod = Method
else:
    _TAGGED = [Annotated[cls, Tag(name)] for name, cls in METHODS.items()]
    AnyMethod = Annotated[reduce(or_, _TAGGED), Discriminator(_name_of)]
