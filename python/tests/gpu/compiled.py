"""Compiles every kernel for every architecture, without a GPU, and prints a table of them.

    python python/tests/gpu/compiled.py [--markdown] [architecture ...]

Without ``TRITON_INTERPRET``, so in a process of its own. Prints JSON: for each kernel and target its
registers, spilled bytes, size of code, and which instructions fuse a product and a sum.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()

import triton
import triton.language as tl
from strew._gpu import kernels
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = [GPUTarget("cuda", of, 32) for of in (75, 80, 86, 90, 100, 120)]
TARGETS.append(GPUTarget("hip", "gfx942", 64))

WIDE = {"fp16": "fp32", "bf16": "fp32", "i8": "i32", "u8": "i32"}
NAMES = {"fp32": tl.float32, "fp64": tl.float64, "i32": tl.int32, "i64": tl.int64}
NAMES["u64"] = tl.uint64
FUSED = {"cuda": r"\b(fma|mad)\.(rn|rz|f)", "hip": r"v_(pk_)?(fma|fmac|mad)_f"}

SIZES = dict.fromkeys("cells columns inner src_row src_outer src_inner".split(), "i32")
LISTS = {"order": "*i64", "starts": "*i64", "ends": "*i64"}


def fold(dtype, kind, columns, **changed):
    """A variant of `kernels.fold`: rows of columns, or single elements of many cells."""
    wide = WIDE.get(dtype, dtype)
    signature = {"src": f"*{dtype}", **LISTS, "out": f"*{dtype}", "arg": "*i64", **SIZES}
    constants = {
        "KIND": kind, "FROM_CELL": False, "MEAN": "", "MORE": 0, "ZERO_IF_START": False,
        "ORDERED": True, "ARG": False, "WIDE": NAMES[wide], "FIRST": False,
        "CELLS": max(1, 128 // columns), "COLUMNS": columns,
    }  # fmt: skip
    signature["identity"] = f"*{wide}"
    return kernels.fold, signature, constants | changed, max(1, max(columns, 128) // 64)


def of_large_tensors(variant):
    """The same with sizes of 64 bits."""
    kernel, signature, constants, warps = variant
    return kernel, signature | dict.fromkeys(SIZES, "i64"), constants, warps


def planes(dtype, **changed):
    wide = {"PLANES": 69 if dtype == "fp64" else 11, "BLOCK": 128}
    signature = {"src": f"*{dtype}", "order": "*i64", "numbers": "*i64", "planes": "*i64"}
    signature |= {"count": "i32", "columns": "i32", "stretch": "i32"}
    constants = {"ORDERED": True, "NUMBERED": True, **wide} | changed
    signature = {name: of for name, of in signature.items() if name not in changed}
    return kernels.add_planes, signature, constants, 4


def finish(dtype, by_column=False):
    of = {"fp16": (-149, 10, -14, 16), "fp32": (-149, 23, -126, 32), "fp64": (-1074, 52, -1022, 64)}
    base, fraction, lowest, bits = of[dtype]
    constants = {
        "BY_COLUMN": False,
        "MEAN": True,
        "MORE": 0,
        "BASE": base,
        "FRACTION": fraction,
        "LOWEST": lowest,
    }
    constants |= {"BITS": bits, "PLANES": 69 if dtype == "fp64" else 11, "BLOCK": 128}
    signature = {"planes": "*i64", "counts": "*i64", "out": f"*{dtype}"}
    return kernels.finish, signature | {"cells": "i32", "columns": "i32"}, constants, 4


def products(dtype):
    signature = {"src": f"*{dtype}", **LISTS, "out": f"*{dtype}", **SIZES}
    constants = {"FROM_CELL": False, "ORDERED": True, "SKIP": True, "BLOCK": 128}
    return kernels.fold_products, signature, constants, 4


def moments(kernel):
    _, signature, constants, warps = products("fp64")
    constants = {"SKIP": True, "BLOCK": constants["BLOCK"]}
    return kernel, signature, constants, warps


def scan(dtype, **of):
    _, signature, constants, warps = products(dtype)
    constants = {"PROD": False, "COMPLEX": False, "SKIP": False, "BLOCK": constants["BLOCK"]}
    return kernels.scan, signature, constants | of, warps


VARIANTS = {
    "fold sum fp32 rows": fold("fp32", "sum", 256),
    "fold sum fp32 elements": fold("fp32", "sum", 1),
    "fold sum bf16 rows": fold("bf16", "sum", 64),
    "fold mean fp16 elements": fold("fp16", "sum", 1, MEAN="down", FROM_CELL=True, MORE=1),
    "fold mean fp64 rows": fold("fp64", "sum", 64, MEAN="down"),
    "fold mean int8 elements": fold("i8", "sum", 1, MEAN="zero"),
    "fold mean uint64 elements": fold("u64", "sum", 1, MEAN="down"),
    "fold sum fp32 rows, large": of_large_tensors(fold("fp32", "sum", 256)),
    "fold prod fp64 elements": fold("fp64", "prod", 1),
    "fold prod int64 rows": fold("i64", "prod", 256),
    "fold max fp32 rows": fold("fp32", "max", 256, FROM_CELL=True),
    "fold min and arg fp32 rows": fold("fp32", "strict_min", 64, ARG=True, ZERO_IF_START=True),
    "fold segments fp32 rows": fold("fp32", "strict_max", 64, ARG=True, FIRST=True, ORDERED=False),
    "fold_products fp32": products("fp32"),
    "fold_spread fp64": moments(kernels.fold_spread),
    "fold_powers fp64": moments(kernels.fold_powers),
    "scan sum fp64": scan("fp64", SKIP=True),
    "scan prod complex128": scan("fp64", PROD=True, COMPLEX=True, SKIP=True),
    "add_planes fp32": planes("fp32"),
    "add_planes fp64": planes("fp64"),
    # What a mean or a sum adds its cells by: Triton compiles for a 1 that it is given.
    "add_planes bf16 cells": planes("bf16", ORDERED=False, NUMBERED=False, stretch=1, columns=1),
    "finish fp16": finish("fp16"),
    "finish fp32": finish("fp32"),
    "finish fp64": finish("fp64"),
    "finish fp64 by column": finish("fp64", by_column=True),
}


def compiled(variant, target):
    """What a kernel becomes on a target."""
    kernel, signature, constants, warps = variant
    signature = {name: signature.get(name, "constexpr") for name in kernel.arg_names}
    source = ASTSource(kernel, signature=signature, constexprs=constants)
    made = triton.compile(
        source, target=target, options={"enable_fp_fusion": False, "num_warps": warps}
    )
    code = made.asm["ptx"] if target.backend == "cuda" else made.asm["amdgcn"]
    fused = re.findall(FUSED[target.backend] + r"\S*", code)
    binary = made.asm["cubin"] if target.backend == "cuda" else made.asm["hsaco"]
    registers, spilled = usage(binary, code, target)
    return {
        "registers": registers, "spilled": spilled, "bytes": len(binary), "fused": len(fused),
        "adds": len(re.findall(r"add\.rn\.f|add\.f(32|64)|v_(pk_)?add_f", code)),
    }  # fmt: skip


def usage(binary, code, target):
    """Registers of a lane, and bytes of it that do not fit into them."""
    if target.backend == "hip":
        return found(r"\.vgpr_count:\s*(\d+)", code), found(r"\.vgpr_spill_count:\s*(\d+)", code)
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        said = subprocess.run(
            [tool, "--dump-resource-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    return found(r"REG:(\d+)", said), found(r"STACK:(\d+)", said) + found(r"LOCAL:(\d+)", said)


def found(pattern, text):
    return int(re.search(pattern, text)[1])


def main():
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    targets = [target for target in TARGETS if not named or str(target.arch) in named]
    rows = {
        name: {str(target.arch): compiled(variant, target) for target in targets}
        for name, variant in VARIANTS.items()
    }
    if "--markdown" not in sys.argv:
        print(json.dumps(rows))
        return
    print("| kernel |", " | ".join(str(target.arch) for target in TARGETS), "| bytes (90) |")
    print("|---" * (len(TARGETS) + 2) + "|")
    for name, row in rows.items():
        registers = " | ".join(str(one["registers"]) for one in row.values())
        print(f"| {name} | {registers} | {row['90']['bytes']} |")


if __name__ == "__main__":
    main()
