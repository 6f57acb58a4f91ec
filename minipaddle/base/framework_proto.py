"""The messages of framework.proto: ProgramDesc, BlockDesc, VarDesc, OpDesc.

Names, numbers and types of the fields are Paddle's, so bytes written here are read there and the
other way round. The messages are built when this file is imported, from the table below, in a
descriptor pool of their own: Paddle registers the same names in the default pool, and both can be
imported in one process.

Paddle: paddle/fluid/framework/framework.proto.
Left out: readers, tuples, sparse Tensors, complex numbers.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "paddle.framework.proto"

_ATTR_TYPES = """
    INT FLOAT STRING INTS FLOATS STRINGS BOOLEAN BOOLEANS BLOCK LONG BLOCKS LONGS FLOAT64S VAR VARS
    FLOAT64 SCALAR SCALARS
"""
ATTR_TYPES = {name: number for number, name in enumerate(_ATTR_TYPES.split())}
VAR_TYPES = {
    "BOOL": 0, "INT16": 1, "INT32": 2, "INT64": 3, "FP16": 4, "FP32": 5, "FP64": 6,
    "DENSE_TENSOR": 7, "SELECTED_ROWS": 8, "FEED_MINIBATCH": 9, "FETCH_LIST": 10,
    "STEP_SCOPES": 11, "DENSE_TENSOR_ARRAY": 13, "RAW": 17, "UINT8": 20, "INT8": 21, "BF16": 22,
}  # fmt: skip
SCALAR_TYPES = {"BOOLEAN": 1, "LONG": 2, "FLOAT64": 3}
# enum -> its values
ENUMS = {"AttrType": ATTR_TYPES, "VarType.Type": VAR_TYPES, "Scalar.Type": SCALAR_TYPES}

# message: its fields, each with label, type, name and number; an outer message comes before its
# inner ones
_MESSAGES = """
Scalar: required Scalar.Type type 1, optional bool b 2, optional int64 i 3, optional double r 4
Version: optional int64 version 1
OpDesc: repeated OpDesc.Var inputs 1, repeated OpDesc.Var outputs 2, required string type 3,
    repeated OpDesc.Attr attrs 4, optional bool is_target 5
OpDesc.Attr: required string name 1, required AttrType type 2, optional int32 i 3,
    optional float f 4, optional string s 5, repeated int32 ints 6, repeated float floats 7,
    repeated string strings 8, optional bool b 10, repeated bool bools 11,
    optional int32 block_idx 12, optional int64 l 13, repeated int32 blocks_idx 14,
    repeated int64 longs 15, repeated double float64s 16, optional string var_name 17,
    repeated string vars_name 18, optional double float64 19, optional Scalar scalar 20,
    repeated Scalar scalars 21
OpDesc.Var: required string parameter 1, repeated string arguments 2
VarType: required VarType.Type type 1, optional VarType.TensorDesc selected_rows 2,
    optional VarType.DenseTensorDesc dense_tensor 3
VarType.TensorDesc: required VarType.Type data_type 1, repeated int64 dims 2
VarType.DenseTensorDesc: required VarType.TensorDesc tensor 1, optional int32 legacy_lod_level 2
VarDesc: required string name 1, required VarType type 2, optional bool persistable 3,
    optional bool need_check_feed 4, optional bool is_parameter 5, optional bool stop_gradient 6
BlockDesc: required int32 idx 1, required int32 parent_idx 2, repeated VarDesc vars 3,
    repeated OpDesc ops 4, optional int32 forward_block_idx 5
OpVersion: required int32 version 1
OpVersionMap: repeated OpVersionMap.OpVersionPair pair 1
OpVersionMap.OpVersionPair: required string op_name 1, required OpVersion op_version 2
ProgramDesc: repeated BlockDesc blocks 1, optional Version version 4,
    optional OpVersionMap op_version_map 5
"""
_LINES = _MESSAGES.replace(",\n", ",").strip().split("\n")
MESSAGES = {name: fields for name, _, fields in (line.partition(":") for line in _LINES)}


def _build() -> dict[str, Any]:
    """Makes the message classes, by full name without the package."""
    proto = descriptor_pb2.FileDescriptorProto(
        name="minipaddle/framework.proto", package=PACKAGE, syntax="proto2"
    )
    made: dict[str, Any] = {"": proto}
    for name in MESSAGES:
        outer, _, inner = name.rpartition(".")
        of = made[outer].nested_type if outer else proto.message_type
        made[name] = of.add(name=inner)
    for name, values in ENUMS.items():
        outer, _, inner = name.rpartition(".")
        listed = made[outer].enum_type.add(name=inner)
        for value, number in values.items():
            listed.value.add(name=value, number=number)
    for name, fields in MESSAGES.items():
        for line in fields.split(","):
            label, kind, field_name, number = line.split()
            field = made[name].field.add(name=field_name, number=int(number))
            field.label = getattr(field, f"LABEL_{label.upper()}")
            plain = getattr(field, f"TYPE_{kind.upper()}", None)
            if plain is not None:
                field.type = plain
            else:
                field.type = field.TYPE_ENUM if kind in ENUMS else field.TYPE_MESSAGE
                field.type_name = f".{PACKAGE}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name in MESSAGES
    }


_CLASSES = _build()
ProgramDesc = _CLASSES["ProgramDesc"]
BlockDesc = _CLASSES["BlockDesc"]
VarDesc = _CLASSES["VarDesc"]
OpDesc = _CLASSES["OpDesc"]
TensorDesc = _CLASSES["VarType.TensorDesc"]
# Paddle takes these ops for older ones, and converts them, where a program does not say which
# version of the op it holds
OP_VERSIONS = {"assign_value": 1, "set_value": 4}

# which field of OpDesc.Attr holds a value of each type
ATTR_FIELDS = {
    "INT": "i", "FLOAT": "f", "STRING": "s", "INTS": "ints", "FLOATS": "floats",
    "STRINGS": "strings", "BOOLEAN": "b", "BOOLEANS": "bools", "BLOCK": "block_idx", "LONG": "l",
    "BLOCKS": "blocks_idx", "LONGS": "longs", "FLOAT64S": "float64s", "FLOAT64": "float64",
}  # fmt: skip
