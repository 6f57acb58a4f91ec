"""Arrays to bytes and back, in the format of Paddle's parameter files (.pdiparams).

One array after the other, without names: who reads them must know the names, and in which order
they come. For each array:

    uint32  0                   the version of the format
    uint64  n                   levels of detail (sequences of different lengths); 0 here
    uint32  0                   the version of what follows
    int32   size                of the next item
    bytes   TensorDesc          a protobuf message: dtype and shape
    bytes   data                the numbers, row after row, little-endian

Paddle: paddle/phi/core/framework/dense_tensor_serialize.cc, save_combine_op.
Left out: writing levels of detail, sparse Tensors, bfloat16, which numpy lacks.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence

import numpy as np

from minipaddle.base.framework_proto import TensorDesc
from minipaddle.common import dtype as dtypes


def to_bytes(arrays: Iterable[np.ndarray]) -> bytes:
    """The arrays, one after the other."""
    parts: list[bytes] = []
    for array in arrays:
        desc = TensorDesc(data_type=dtypes.to_dtype(array.dtype).proto_number, dims=array.shape)
        described = desc.SerializeToString()
        parts += [struct.pack("<IQIi", 0, 0, 0, len(described)), described]
        parts.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return b"".join(parts)


def from_bytes(who: str, data: bytes, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays, by name: as many as there are names.

    Raises:
        ValueError: the bytes end too early or too late, or are something else.
    """
    reader = _Reader(who, data)
    arrays = {name: reader.array(name) for name in names}
    if reader.position != len(data):
        raise ValueError(
            f"{who}: expected the parameters {list(names)} and nothing else, but got "
            f"{len(data) - reader.position} bytes more. Do model and parameters belong together?"
        )
    return arrays


class _Reader:
    def __init__(self, who: str, data: bytes) -> None:
        self.who, self.data, self.position = who, data, 0

    def take(self, count: int, name: str) -> bytes:
        if not 0 <= count <= len(self.data) - self.position:
            raise self.error(name, f"{count} bytes more", f"only {len(self.data) - self.position}")
        self.position += count
        return self.data[self.position - count : self.position]

    def number(self, form: str, name: str) -> int:
        return struct.unpack(form, self.take(struct.calcsize(form), name))[0]

    def array(self, name: str) -> np.ndarray:
        self.version(name)
        for _ in range(self.number("<Q", name)):  # levels of detail: of no use here
            self.take(self.number("<Q", name), name)
        self.version(name)
        described = self.take(self.number("<i", name), name)
        desc = TensorDesc()
        try:
            desc.ParseFromString(described)
        except Exception as error:  # protobuf's DecodeError
            raise self.error(name, "a TensorDesc", f"something else ({error})") from error
        kind = dtypes.BY_PROTO.get(desc.data_type)
        if kind is None or min(desc.dims, default=0) < 0:
            raise self.error(
                name, "a dtype and a shape that numpy has", f"{desc.data_type}, {list(desc.dims)}"
            )
        size = math.prod(desc.dims) * kind.numpy_dtype.itemsize
        stored = kind.numpy_dtype.newbyteorder("<")
        array = np.frombuffer(self.take(size, name), stored).reshape(tuple(desc.dims))
        return array.astype(kind.numpy_dtype)

    def version(self, name: str) -> None:
        number = self.number("<I", name)
        if number != 0:
            raise self.error(name, "version 0 of the format", str(number))

    def error(self, name: str, wanted: str, got: str) -> ValueError:
        return ValueError(
            f"{self.who}: expected {wanted} for the parameter {name!r}, but got {got} at byte "
            f"{self.position} of {len(self.data)}. The parameters are cut off, or not of this "
            "model."
        )
