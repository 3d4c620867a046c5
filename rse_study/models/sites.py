"""Sites of an encoder: the outputs of the embedding block and of each layer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from rse_study.errors import InputError

SiteChange = Callable[[Tensor], Tensor]
Changes = Mapping[int, Sequence[SiteChange]]  # by site: functions applied to its output, in order


LAYERS = ("encoder.layer", "transformer.layer", "layers")
"""places of the list of layers: BERT's and its kin's, DistilBERT's, ModernBERT's"""


def find_sites(backbone: nn.Module) -> list[nn.Module]:
    """Return the embedding block and the layers in order; empty for unknown layouts."""
    embeddings = getattr(backbone, "embeddings", None)
    named = (_at(backbone, path) for path in LAYERS)
    layers = next((one for one in named if isinstance(one, nn.ModuleList)), None)
    widens = getattr(backbone.config, "model_type", "") == "longformer"  # whose layers see whole windows
    if not isinstance(embeddings, nn.Module) or layers is None or widens:
        return []
    # ELECTRA widens its word embeddings after the block: the site is what the first layer reads.
    first = getattr(backbone, "embeddings_project", embeddings)
    return [first, *layers]


def _at(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


def require_sites(backbone: nn.Module, num_needed: int) -> list[nn.Module]:
    """Return the sites of a backbone; raise InputError if they are too few."""
    sites, name = find_sites(backbone), type(backbone).__name__
    if not sites:
        raise InputError(
            f"{name} has no known sites (`embeddings`, and a list of layers)",
            rule="weights, first_last pooling and the discriminator act between the blocks of an encoder",
            remedy="Use a BERT, RoBERTa, DistilBERT or ModernBERT checkpoint, or set phi = 0 and lambda2 = 0.",
        )
    if len(sites) < num_needed:
        raise InputError(
            f"{num_needed} sites are asked of {name}",
            rule=f"it has {len(sites)}: the embedding block and {len(sites) - 1} layers",
            remedy=f"Lower method.masks.num_layers to {len(sites) - 1} or less.",
        )
    return sites


@contextmanager
def changed_outputs(sites: Sequence[nn.Module], changes: Changes) -> Iterator[None]:
    """Change the outputs of sites inside, and only there."""
    with ExitStack() as stack:
        for site, own in changes.items():
            for change in own:
                handle = sites[site].register_forward_hook(_hook(change))
                stack.callback(handle.remove)
        yield


def _hook(change: SiteChange) -> Callable[[nn.Module, Any, Any], Any]:
    def replace(module: nn.Module, inputs: Any, output: Any) -> Any:
        # MPNet's layers return (hidden, ...), BERT's the bare tensor.
        if isinstance(output, tuple):
            return (change(output[0]), *output[1:])
        return change(output)

    return replace
