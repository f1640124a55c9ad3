"""What StableHLO makes of a scatter: its interpreter, of whose modules JAX has a copy."""

import numpy as np
from jax.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

REFUSALS = (ir.MLIRError,)
VERSION = stablehlo.get_current_version()
TYPES = {
    "bool": "i1",
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"ui{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
    "bfloat16": "bf16",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}
REGIONS = {"add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}
"""The operation of a region, apart from `set`, which returns the update."""
LISTS = [
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
]


def type_of(dtype, shape):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{TYPES[dtype]}>"


def readable(dtype):
    """How a result is returned as what Python can read: values by name, their operations and types."""
    if dtype == "bfloat16":
        return [("stablehlo.convert", "float32")]
    if dtype.startswith("complex"):
        part = {"complex64": "float32", "complex128": "float64"}[dtype]
        return [("stablehlo.real", part), ("stablehlo.imag", part)]
    return []


def program(case):
    """A scatter, and what makes its result readable."""
    arrays = [case[name] for name in ("operand", "indices", "updates")]
    dtype = arrays[0].dtype.name
    operand, indices, updates = (type_of(a.dtype.name, a.shape) for a in arrays)
    one = type_of(dtype, ())
    lists = ", ".join(f"{name} = {case[name]}" for name in LISTS if case.get(name))
    joined = (
        f"%new = stablehlo.{REGIONS[case['region']]} %a, %b : {one}"
        if case["region"] in REGIONS
        else ""
    )
    made = [
        (f"%out{n}", operation, type_of(to, arrays[0].shape))
        for n, (operation, to) in enumerate(readable(dtype))
    ]
    names = ", ".join(name for name, _, _ in made) or "%made"
    types = ", ".join(type_ for _, _, type_ in made) or operand
    return f"""
func.func @main(%operand: {operand}, %indices: {indices}, %updates: {updates}) -> ({types}) {{
  %made = "stablehlo.scatter"(%operand, %indices, %updates) <{{
    scatter_dimension_numbers =
      #stablehlo.scatter<{lists}{", " if lists else ""}index_vector_dim = {case["index_vector_dim"]}>
  }}> ({{
    ^bb0(%a: {one}, %b: {one}):
      {joined}
      stablehlo.return {"%new" if joined else "%b"} : {one}
  }}) : ({operand}, {indices}, {updates}) -> {operand}
  {" ".join(f"{name} = {to} %made : ({operand}) -> {type_}" for name, to, type_ in made)}
  return {names} : {types}
}}"""


def verified(case):
    """Whether StableHLO refuses its dimension numbers, types and shapes."""
    with mlir.make_ir_context(), ir.Location.unknown():
        ir.Module.parse(program(case))


def interpreted(case):
    arrays = [np.asarray(case[name]) for name in ("operand", "indices", "updates")]
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(program(case))
        made = stablehlo.eval_module(module, [mlir.ir_attribute(array) for array in arrays])
        parts = [np.array(part) for part in made]
    if len(parts) == 1:
        return parts[0].astype(arrays[0].dtype)
    whole = np.empty(arrays[0].shape, arrays[0].dtype)
    whole.real, whole.imag = parts
    return whole
