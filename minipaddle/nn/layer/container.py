"""Layers that hold layers: Sequential, LayerList, LayerDict, ParameterList.

Paddle: python/paddle/nn/layer/container.py.
Left out: ParameterDict.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from minipaddle.nn.layer.layers import Layer

__all__ = [
    "LayerDict",
    "LayerList",
    "ParameterList",
    "Sequential",
]


class _NumberedLayers(Layer):
    """What Sequential and LayerList share: their layers are in order, named "0", "1", ..."""

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._sub_layers.values())

    def _position(self, index: int) -> int:
        """The index, counted from the front. Raises IndexError if there is none."""
        if not -len(self) <= index < len(self):
            raise IndexError(
                f"{type(self).__name__}: expected an index in [{-len(self)}, {len(self)}), but got "
                f"{index}. It holds {len(self)} layers."
            )
        return index % len(self)

    def append(self, sublayer: Layer) -> Any:
        """Adds a layer at the end."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> Any:
        """Adds several layers at the end."""
        for layer in sublayers:
            self.append(layer)
        return self

    def insert(self, index: int, sublayer: Layer) -> Any:
        """Puts a layer before the one at `index`. Raises IndexError if there is no such place."""
        if not -len(self) <= index <= len(self):
            raise IndexError(
                f"{type(self).__name__}: expected an index in [{-len(self)}, {len(self)}], but got "
                f"{index}. It holds {len(self)} layers."
            )
        layers = list(self)
        layers.insert(index, sublayer)
        self._renumber(layers)
        return self

    def _renumber(self, layers: list[Layer]) -> None:
        self._sub_layers.clear()
        for number, layer in enumerate(layers):
            self.add_sublayer(str(number), layer)


class Sequential(_NumberedLayers):
    """Layers one after the other.

    paddle.nn.Sequential(a, b), Sequential(("first", a), ("second", b)) or
    Sequential(OrderedDict(first=a, second=b)).
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], OrderedDict):
            named = list(layers[0].items())
        elif layers and isinstance(layers[0], (list, tuple)):
            named = [(name, layer) for name, layer in layers]
        else:
            named = [(str(number), layer) for number, layer in enumerate(layers)]
        for name, layer in named:
            self.add_sublayer(name, layer)

    def __getitem__(self, key: int | str | slice) -> Any:
        if isinstance(key, slice):
            return type(self)(*list(self)[key])
        if isinstance(key, str):
            return self._sub_layers[key]
        return list(self)[self._position(key)]

    def __setitem__(self, key: int | str, layer: Layer) -> None:
        self.add_sublayer(self._name_of(key), layer)

    def __delitem__(self, key: int | str) -> None:
        del self._sub_layers[self._name_of(key)]

    def _name_of(self, key: int | str) -> str:
        """The name at an index; an index at the end stands for the next name."""
        if isinstance(key, str) or key == len(self):
            return str(key)
        return list(self._sub_layers)[self._position(key)]

    def forward(self, input: Any) -> Any:
        for layer in self._sub_layers.values():
            input = layer(input)
        return input


class LayerList(_NumberedLayers):
    """A list of layers; it has no forward of its own."""

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or ())

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._sub_layers[str(self._position(index))]

    def __setitem__(self, index: int, sublayer: Layer) -> None:
        self.add_sublayer(str(self._position(index)), sublayer)

    def __delitem__(self, index: int | slice) -> None:
        layers = list(self)
        del layers[index if isinstance(index, slice) else self._position(index)]
        self._renumber(layers)

    def __iadd__(self, sublayers: Iterable[Layer]) -> LayerList:
        return self.extend(sublayers)

    def __add__(self, other: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *other])

    def pop(self, index: int) -> Layer:
        """Takes a layer out and gives it back."""
        layer = self[index]
        del self[index]
        return layer


class LayerDict(Layer):
    """Layers by name."""

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        self.update(sublayers or {})

    def __getitem__(self, key: str) -> Layer:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def keys(self) -> Iterable[str]:
        return self._sub_layers.keys()

    def values(self) -> Iterable[Layer]:
        return self._sub_layers.values()

    def items(self) -> Iterable[tuple[str, Layer]]:
        return self._sub_layers.items()

    def update(self, sublayers: Any) -> None:
        """Adds the layers of a dict, of a LayerDict, or of (name, layer) pairs."""
        has_items = isinstance(sublayers, (Mapping, LayerDict))
        for name, layer in sublayers.items() if has_items else sublayers:
            self.add_sublayer(name, layer)

    def pop(self, key: str) -> Layer:
        """Takes a layer out and gives it back."""
        return self._sub_layers.pop(key)

    def clear(self) -> None:
        self._sub_layers.clear()


class ParameterList(Layer):
    """A list of parameters."""

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def __getitem__(self, index: int) -> Any:
        return self._parameters[str(index)]

    def __setitem__(self, index: int, parameter: Any) -> None:
        self[index].set_value(parameter)  # the numbers; the parameter stays

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, parameter: Any) -> ParameterList:
        """Adds a parameter at the end."""
        self.add_parameter(str(len(self)), parameter)
        return self
