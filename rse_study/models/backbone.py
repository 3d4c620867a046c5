"""A backbone's sites, the layouts of its inputs, and half copies of its weights."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rse_study.data.batches import RealTokens
from rse_study.models.pooling import in_mode

LAYER = re.compile(r".*?\.\d+(?=\.|$)")
"""beginning of a module's name: the layer that holds it"""
PROJECTIONS = ("query", "key", "value")
JOINED = "joined_"
"""beginning of the names by which an attention finds the copies of its projections, one below the other"""


StandIn = tuple[str, nn.Module, str, tuple[nn.Parameter, ...]]
"""A layer, a module in it, the name under which the module finds a copy, and the weights it copies."""


class HalfWeights:
    """Weights and biases of linear maps, as autocast would cast them for each pass.

    Optimiser, checkpoints and names see the weights themselves; these stand in for them inside passes only. With
    `joins`, queries, keys and values are one map: other last bits.
    """

    def __init__(self, network: nn.Module, half: torch.dtype, *, joins: bool = False) -> None:
        self._stand_ins = [
            stand_in for each in network.named_modules() for stand_in in _stand_ins(*each, joins=joins)
        ]
        # By weight: two maps may share theirs.
        self._halves = {
            weights: weights[0].new_empty((sum(map(len, weights)), *weights[0].shape[1:]), dtype=half)
            for *_, weights in self._stand_ins
        }
        parts = [
            part for weights, copy in self._halves.items() for part in copy.split([len(w) for w in weights])
        ]
        with torch.no_grad():
            torch._foreach_copy_(parts, [weight for weights in self._halves for weight in weights])

    @contextmanager
    def standing_in(self) -> Iterator[None]:
        """Let linear maps use the copies; gradients go to the weights themselves."""
        halves = self._with_gradients() if torch.is_grad_enabled() else self._halves
        for _, module, name, weights in self._stand_ins:
            vars(module)[name] = halves[weights]  # found before the parameter of this name
        try:
            yield
        finally:
            for _, module, name, _ in self._stand_ins:
                vars(module).pop(name, None)

    def _with_gradients(self) -> dict[tuple[nn.Parameter, ...], Tensor]:
        halves = dict(self._halves)
        for _, stand_ins in groupby(self._stand_ins, itemgetter(0)):
            if trained := [weights for *_, weights in stand_ins if weights[0].requires_grad]:
                known = [self._halves[weights] for weights in trained]
                cast = _Cast.apply(known, [len(w) for w in trained], *(one for w in trained for one in w))
                halves.update(zip(trained, cast, strict=True))
        return halves


def _stand_ins(name: str, module: nn.Module, *, joins: bool) -> Iterator[StandIn]:
    layer = found[0] if (found := LAYER.match(name)) else ""
    maps = [getattr(module, projection, None) for projection in PROJECTIONS]
    if joins and all(isinstance(each, nn.Linear) and each.bias is not None for each in maps):
        for kind in ("weight", "bias"):
            yield layer, module, JOINED + kind, tuple(getattr(each, kind) for each in maps)
    elif isinstance(module, nn.Linear) and not (joins and name.rpartition(".")[2] in PROJECTIONS):
        for kind, weight in module.named_parameters(recurse=False):
            yield layer, module, kind, (weight,)


class _Cast(torch.autograd.Function):
    """A cast whose result is known. A layer's gradients are cast back by one operation."""

    @staticmethod
    def forward(ctx: Any, halves: list[Tensor], counts: list[int], *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.counts = counts
        return tuple(half.detach() for half in halves)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        known = [gradient for gradient in gradients if gradient is not None]
        wide = [torch.empty_like(gradient, dtype=torch.float32) for gradient in known]
        torch._foreach_copy_(wide, known)
        each, parts = iter(wide), list[Tensor | None]()
        for gradient, count in zip(gradients, ctx.counts, strict=True):
            parts += [None] * count if gradient is None else next(each).chunk(count)
        return None, None, *parts


SiteChange = Callable[[Tensor], Tensor]
Changes = Mapping[int, Sequence[SiteChange]]  # by site: functions applied to its hidden states, in order
PROBE = (2, 5)  # sentences and tokens; to 5, no family pads


def find_layers(backbone: Any) -> list[nn.Module]:
    """Return the layers as a pass applies them; empty where none are known.

    They are the modules of the first list that form a chain in a pass of a few tokens: each reads the hidden states
    [b l d] that the one before has returned. A layer that is shared, as in ALBERT, stands once for each application.
    """
    if can_be_packed(backbone):
        return [*backbone.encoder.layer]  # a step that is recorded can run no other pass
    lists = (each for each in backbone.modules() if isinstance(each, nn.ModuleList))
    chains = (_chain(backbone, each) for each in lists)
    return next((chain for chain in chains if len(chain) == backbone.config.num_hidden_layers), [])


def _chain(backbone: Any, layers: nn.ModuleList) -> list[nn.Module]:
    calls, states = list[nn.Module](), list[Any]()

    def note(layer: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        calls.append(layer)
        states.extend((inputs and inputs[0], output[0] if isinstance(output, tuple) else output))

    words = backbone.get_input_embeddings().weight
    with ExitStack() as stack, torch.no_grad(), in_mode(backbone, training=False):
        for layer in layers:
            stack.callback(layer.register_forward_hook(note).remove)
        backbone(inputs_embeds=words.new_zeros(*PROBE, words.shape[1]))
    shape = (*PROBE, backbone.config.hidden_size)
    are_states = all(isinstance(one, Tensor) and one.shape == shape for one in states)
    follow = all(read is returned for returned, read in zip(states[1::2], states[2::2], strict=False))
    return calls if are_states and follow else []


@contextmanager
def changed_states(layers: Sequence[nn.Module], changes: Changes) -> Iterator[None]:
    """Change the hidden states between layers inside, and only there.

    Site 0 is what the first layer reads, site i the output of the i-th application of a layer.
    """
    site = 0

    def before(layer: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return inputs if site else (_changed(inputs[0], changes, 0), *inputs[1:])

    def after(layer: nn.Module, inputs: Any, output: Any) -> Any:
        nonlocal site
        site += 1
        # MPNet's layers return (hidden, ...), BERT's the bare tensor.
        if isinstance(output, tuple):
            return (_changed(output[0], changes, site), *output[1:])
        return _changed(output, changes, site)

    with ExitStack() as stack:
        for layer in dict.fromkeys(layers):
            stack.callback(layer.register_forward_pre_hook(before).remove)
            stack.callback(layer.register_forward_hook(after).remove)
        yield


@dataclass(frozen=True)
class TokenInputs:
    """Inputs of a backbone for each token."""

    embeddings: Float[Tensor, "b l e"]
    positions: Int[Tensor, "*n"] | None
    """in the layout"""
    types: Int[Tensor, "b l"] | None


@dataclass(frozen=True)
class Padded:
    """The layout for any backbone: every sentence as long as the longest one."""

    mask: Bool[Tensor, "b l"]
    is_unread: bool = False
    """whether a GPU's mask is handed on as it is: transformers looks whether there is padding, and waits for that"""

    @property
    def numbers(self) -> Int[Tensor, "b l"]:
        """Return 1, 2, ... over real tokens, and 0 at padding."""
        return self.mask.cumsum(1) * self.mask

    def lay(self, values: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        return values

    def restore(self, hidden: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        return hidden

    def with_first(
        self, hidden: Float[Tensor, "b l d"], vectors: Float[Tensor, "b d"]
    ) -> Float[Tensor, "b l d"]:
        return torch.cat([vectors[:, None], hidden[:, 1:]], dim=1)

    def run(self, backbone: Any, given: TokenInputs, wanted: Tensor | None) -> Tensor:
        """Return last hidden states, [b l d], or [b d] at the positions `wanted`."""
        extra = {"position_ids": given.positions, "token_type_ids": given.types}
        known = {name: value for name, value in extra.items() if value is not None}
        mask = self.mask[:, None, None] if self.is_unread and self.mask.is_cuda else self.mask.long()
        last = backbone(inputs_embeds=given.embeddings, attention_mask=mask, **known)[0]
        return last if wanted is None else last[torch.arange(len(last), device=last.device), wanted]


FAMILIES = ("bert", "roberta", "xlm-roberta", "camembert", "electra")
"""without relative positions in their attention"""


def can_be_packed(backbone: Any) -> bool:
    """Whether a backbone's layers can run on real tokens alone."""
    return getattr(backbone.config, "model_type", "") in FAMILIES


@dataclass(frozen=True)
class Packed:
    """The real tokens of all sentences in one row: T instead of b * l.

    The last layer computes keys and values everywhere, and the rest at the wanted positions alone.
    """

    places: RealTokens
    bias: Float[Tensor, "b 1 1 l"]
    """0, and -inf at padding, in the type of queries"""

    @property
    def mask(self) -> Tensor:
        return self.places.mask

    @property
    def numbers(self) -> Tensor:
        return self.places.numbers

    def lay(self, values: Tensor) -> Tensor:
        """Pick the values of the real tokens, [b l ...] to [T ...]."""
        return values.flatten(0, 1).index_select(0, self.places.flat)

    def spread(self, *values: Float[Tensor, "T d"]) -> tuple[Float[Tensor, "b l d"], ...]:
        """Put values back into their rows, with any at padding, which nobody may read."""
        if torch.compiler.is_compiling():  # which makes a graph of its own for every autograd.Function
            return tuple(self.restore(each) for each in values)
        rows = _Spread.apply(self.places.back, self.places.flat, *values)
        return tuple(each.unflatten(0, self.mask.shape) for each in rows)

    def restore(self, hidden: Float[Tensor, "T d"]) -> Float[Tensor, "b l d"]:
        """Put hidden states back into their rows, with 0 at padding."""
        rows = hidden.new_zeros(self.mask.numel(), *hidden.shape[1:])
        return rows.index_copy(0, self.places.flat, hidden).unflatten(0, self.mask.shape)

    def with_first(self, hidden: Float[Tensor, "T d"], vectors: Float[Tensor, "b d"]) -> Float[Tensor, "T d"]:
        return hidden.index_copy(0, self.places.back.view(self.mask.shape)[:, 0], vectors)

    def at(self, positions: Int[Tensor, " b"]) -> Int[Tensor, " b"]:
        """Return the index among the T of one position, a real token, of each sentence."""
        return self.places.back.view(self.mask.shape).gather(1, positions[:, None]).squeeze(1)

    def run(self, backbone: Any, given: TokenInputs, changes: Changes, wanted: Tensor | None) -> Tensor:
        """Return last hidden states, [T d], or [b d] at the positions `wanted`."""
        layers, hidden = backbone.encoder.layer, self._embedded(backbone, given)
        one = None if wanted is None or len(layers) in changes else self.at(wanted)
        for site, layer in enumerate(layers):
            hidden = _changed(hidden, changes, site)
            hidden = self._layer(layer, hidden, one if site == len(layers) - 1 else None)
        hidden = _changed(hidden, changes, len(layers))
        return hidden if wanted is None or one is not None else hidden[self.at(wanted)]

    def _embedded(self, backbone: Any, given: TokenInputs) -> Float[Tensor, "T d"]:
        assert given.positions is not None
        types = self.places.types if given.types is None else self.lay(given.types)
        known = {"position_ids": given.positions[None], "token_type_ids": types[None]}
        block = backbone.embeddings(inputs_embeds=self.lay(given.embeddings)[None], **known)
        # ELECTRA widens its word embeddings after the block: site 0 is what the first layer reads.
        widened = getattr(backbone, "embeddings_project", None)
        return (widened(block) if widened else block)[0]

    def _layer(self, layer: Any, hidden: Float[Tensor, "T d"], one: Tensor | None) -> Tensor:
        rows = hidden if one is None else hidden.index_select(0, one)
        mixed = layer.attention.output(self._attended(layer.attention.self, hidden, rows, one), rows)
        return layer.output(layer.intermediate(mixed), mixed)

    def _attended(self, attention: Any, hidden: Tensor, rows: Tensor, one: Tensor | None) -> Tensor:
        heads = (-1, attention.attention_head_size)
        # Keys of padding are masked, and outcomes of its queries are not taken.
        if one is None:
            queries, keys, values = self._projected(attention, hidden, PROJECTIONS)
        else:
            queries = attention.query(rows)[:, None]
            keys, values = self._projected(attention, hidden, PROJECTIONS[1:])
        query, key, value = (x.unflatten(2, heads).transpose(1, 2) for x in (queries, keys, values))
        seen = nn.functional.scaled_dot_product_attention(
            query, key, value, self.bias, dropout_p=attention.dropout.p * attention.training
        )
        context = seen.transpose(1, 2).flatten(2)
        return self.lay(context) if one is None else context[:, 0]

    def _projected(
        self, attention: Any, hidden: Float[Tensor, "T d"], names: tuple[str, ...]
    ) -> tuple[Float[Tensor, "b l d"], ...]:
        """Return projections in their rows: by a map each, or by one where the last maps' weights are joined."""
        weight = getattr(attention, f"{JOINED}weight", None)
        if weight is None:
            return self.spread(*(getattr(attention, name)(hidden) for name in names))
        bias, left_out = getattr(attention, f"{JOINED}bias"), len(PROJECTIONS) - len(names)
        if left_out:
            first = left_out * len(weight) // len(PROJECTIONS)
            weight, bias = weight[first:], bias[first:]
        return self.spread(nn.functional.linear(hidden, weight, bias))[0].chunk(len(names), -1)


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, back: Int[Tensor, " n"], flat: Int[Tensor, " T"], *values: Float[Tensor, "T d"]
    ) -> tuple[Tensor, ...]:
        ctx.flat = flat
        return _stacked(values).index_select(1, back).unbind()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        # Nobody reads padding: its gradient is 0.
        return None, None, *_stacked(gradients).index_select(1, ctx.flat).unbind()


def _stacked(values: tuple[Tensor, ...]) -> Tensor:
    return torch.stack(values) if len(values) > 1 else values[0][None]


def _changed(hidden: Tensor, changes: Changes, site: int) -> Tensor:
    for change in changes.get(site, ()):
        hidden = change(hidden)
    return hidden
