"""Transformers: attention with several heads, the layer built around it, and a stack of layers.

Paddle: python/paddle/nn/layer/transformer.py.
Left out: the decoder and Transformer itself.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

from minipaddle.common import dtype as dtypes
from minipaddle.nn import functional
from minipaddle.nn.layer.common import Dropout, Linear
from minipaddle.nn.layer.container import LayerList
from minipaddle.nn.layer.layers import Layer
from minipaddle.nn.layer.norm import LayerNorm
from minipaddle.nn.param_attr import ParamAttr
from minipaddle.phi.core.op import OPS

__all__ = [
    "MultiHeadAttention",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


class MultiHeadAttention(Layer):
    """Every position asks (query) what the others offer (key), and takes what they have (value),
    in several heads at once (Vaswani and others 2017).

    Args:
        embed_dim: the size of a position, E; each head has E / num_heads of it.
        dropout: the probability with which a weight is dropped in training.
        kdim, vdim: the sizes of key and value, if not embed_dim.
        need_weights: also returns the weights [B, H, Lq, Lk].

    Raises:
        ValueError: a size is not positive, or embed_dim is no multiple of num_heads.
    """

    class Cache(NamedTuple):
        """Keys and values [B, H, L, D] of earlier positions; new ones are added behind."""

        k: Any
        v: Any

    class StaticCache(NamedTuple):
        """Keys and values that stay as they are."""

        k: Any
        v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(
                "MultiHeadAttention: expected embed_dim to be a positive multiple of num_heads, "
                f"but got {embed_dim} and {num_heads}. Each head takes an equal part."
            )
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.need_weights = need_weights
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Any) -> Any:
        """[B, L, E] -> [B, H, L, E / H]."""
        x = OPS["reshape"](x, shape=[0, 0, self.num_heads, self.head_dim])
        return OPS["transpose"](x, perm=[0, 2, 1, 3])

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """The keys and values of all heads: [B, H, L, D] each."""
        key, value = self.k_proj(key), self.v_proj(value)
        return self._heads(key), self._heads(value)

    def gen_cache(self, key: Any, value: Any = None, type: type = Cache) -> Any:
        """A cache to start with: empty; or with StaticCache, of this key and value; or with both
        key and value, of these [B, H, L, D].
        """
        if type is MultiHeadAttention.StaticCache:
            return type(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return type(key, value)
        shape = [key.shape[0], self.num_heads, 0, self.head_dim]
        empty = OPS["full"](shape=shape, value=0.0, dtype=key.dtype)
        return type(empty, empty)

    def forward(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        attn_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """query [B, Lq, E], key and value [B, Lk, kdim or vdim] (default: the query) -> [B, Lq, E].

        Args:
            attn_mask: broadcasts to [B, H, Lq, Lk]; numbers are added to the scores; of a bool or
                int mask, 0 means: is not looked at.
            cache: keys and values of earlier positions.

        Returns:
            The output; with need_weights and with a cache, a tuple that has these too.
        """
        key = query if key is None else key
        value = query if value is None else value
        q = self._heads(self.q_proj(query))
        if isinstance(cache, self.StaticCache):
            k, v = cache
        else:
            k, v = self.compute_kv(key, value)
        if isinstance(cache, self.Cache):
            k, v = (OPS["concat"](list(pair), axis=2) for pair in zip(cache, (k, v), strict=True))
            cache = self.Cache(k, v)
        scores = OPS["matmul"](q * self.head_dim**-0.5, k, transpose_y=True)
        if attn_mask is not None:
            scores = scores + _convert_attention_mask(attn_mask, scores.dtype)
        weights = OPS["softmax"](scores, axis=-1)
        if self.dropout:
            weights = functional.dropout(
                weights, self.dropout, training=self.training, mode="upscale_in_train"
            )
        out = OPS["transpose"](OPS["matmul"](weights, v), perm=[0, 2, 1, 3])
        out = self.out_proj(OPS["reshape"](out, shape=[0, 0, self.embed_dim]))
        results = [out]
        if self.need_weights:
            results.append(weights)
        if cache is not None:
            results.append(cache)
        return out if len(results) == 1 else tuple(results)


class TransformerEncoderLayer(Layer):
    """Attention, then two Linears with an activation between them, each with a way around it:

        src = norm1(src + dropout1(self_attn(src)))
        src = norm2(src + dropout2(linear2(dropout(activation(linear1(src))))))

    Args:
        d_model: the size of a position.
        nhead: heads of the attention.
        dim_feedforward: the size between the two Linears.
        activation: the name of a function of paddle.nn.functional.
        attn_dropout, act_dropout: default: as dropout.
        normalize_before: the norms stand before attention and Linears, and not behind the sums.
        weight_attr, bias_attr: one for all, or two: for the attention and for the Linears.

    Raises:
        ValueError: a size is not positive.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        # TransformerEncoder makes more layers like this one
        self._config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        if dim_feedforward <= 0:
            raise ValueError(
                f"TransformerEncoderLayer: expected a positive dim_feedforward, but got "
                f"{dim_feedforward}. It is often 4 times d_model."
            )
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights = _convert_param_attr_to_list(weight_attr, 2)
        biases = _convert_param_attr_to_list(bias_attr, 2)
        self.self_attn = MultiHeadAttention(
            d_model, nhead, attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self.linear1 = Linear(d_model, dim_feedforward, weights[1], biases[1])
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[1], biases[1])
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = getattr(functional, activation)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """src [B, L, E] -> [B, L, E]; with a cache, (output, new cache)."""
        src_mask = _convert_attention_mask(src_mask, src.dtype)
        residual = src
        if self.normalize_before:
            src = self.norm1(src)
        if cache is None:
            src = self.self_attn(src, src, src, src_mask)
        else:
            src, cache = self.self_attn(src, src, src, src_mask, cache)
        src = residual + self.dropout1(src)
        if not self.normalize_before:
            src = self.norm1(src)
        residual = src
        if self.normalize_before:
            src = self.norm2(src)
        src = self.linear2(self.dropout(self.activation(self.linear1(src))))
        src = residual + self.dropout2(src)
        if not self.normalize_before:
            src = self.norm2(src)
        return src if cache is None else (src, cache)

    def gen_cache(self, src: Any) -> Any:
        """An empty cache."""
        return self.self_attn.gen_cache(src, type=MultiHeadAttention.Cache)


class TransformerEncoder(Layer):
    """Several layers, one after the other: `encoder_layer` and others like it, with parameters of
    their own.

    Args:
        norm: a layer for the end.
    """

    def __init__(
        self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Layer | None = None
    ) -> None:
        super().__init__()
        make, config = type(encoder_layer), encoder_layer._config
        self.layers = LayerList(
            encoder_layer if number == 0 else make(**config) for number in range(num_layers)
        )
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src: Any, src_mask: Any = None, cache: Sequence[Any] | None = None) -> Any:
        """src [B, L, E] -> [B, L, E]; with a list of caches, (output, new caches)."""
        src_mask = _convert_attention_mask(src_mask, src.dtype)
        caches = []
        for number, layer in enumerate(self.layers):
            if cache is None:
                src = layer(src, src_mask=src_mask)
            else:
                src, new = layer(src, src_mask=src_mask, cache=cache[number])
                caches.append(new)
        if self.norm is not None:
            src = self.norm(src)
        return src if cache is None else (src, caches)

    def gen_cache(self, src: Any) -> list[Any]:
        """An empty cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


def _convert_attention_mask(mask: Any, dtype: dtypes.DataType) -> Any:
    """The mask as numbers to add: 0 where a bool or int mask is 1, and -1e9 where it is 0."""
    if mask is None or mask.dtype is dtype:
        return mask
    numbers = OPS["cast"](mask, dtype=dtype)
    return numbers if mask.dtype.is_floating else (numbers - 1.0) * 1e9


def _convert_param_attr_to_list(attr: Any, count: int) -> list[Any]:
    """One attr for each of `count` parts. Where one with a name stands for all, a number is added
    to the name.

    Raises:
        ValueError: a list of another length.
    """
    if isinstance(attr, (list, tuple)):
        if len(attr) != count:
            raise ValueError(
                f"TransformerEncoderLayer: expected {count} attrs, but got {len(attr)}. Pass one "
                "for all, or one for the attention and one for the Linears."
            )
        return [ParamAttr._to_attr(item) for item in attr]
    attr = ParamAttr._to_attr(attr)
    if attr is False:
        return [False] * count
    attrs = [copy.deepcopy(attr) for _ in range(count)]
    for number, item in enumerate(attrs):
        if item.name:
            item.name = f"{item.name}_{number}"
    return attrs
