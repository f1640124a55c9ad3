"""The contenders by their names."""

from __future__ import annotations

import dataclasses

__all__ = ["CONTENDERS", "PLAIN", "STREW", "Contender", "one_thread"]

STREW = "strew"
PLAIN = "plain"


@dataclasses.dataclass(frozen=True)
class Contender:
    """Where a contender lives and how it is started."""

    name: str
    # Both the environment's name and the module's.
    environment: str
    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    # Whether the library runs as its users find it. One that does not is shown, and is not counted
    # as the best peer.
    at_defaults: bool = True
    # Whether it is a library at all. What is none has a column of its own, and is not counted as
    # a peer either.
    library: bool = True

    @property
    def may_be_best(self) -> bool:
        return self.library and self.at_defaults


CONTENDERS = {
    contender.name: contender
    for contender in [
        Contender(STREW, STREW),
        Contender("numpy", "numpy"),
        Contender("torch", "torch"),
        # torch's switch for large pages.
        Contender("torch-hugepages", "torch", {"THP_MEM_ALLOC_ENABLE": "1"}, at_defaults=False),
        Contender("torch_scatter", "torch_scatter"),
        Contender("torch_geometric", "torch_geometric"),
        Contender("jax", "jax"),
        Contender("onnxruntime", "onnxruntime"),
        Contender("openvino", "openvino"),
        # It tells a page of news at every start.
        Contender("tensorflow", "tensorflow", {"TF_CPP_MIN_LOG_LEVEL": "3"}),
        Contender("mindspore", "mindspore"),
        Contender("mxnet", "mxnet"),
        # Plain loops.
        Contender(PLAIN, PLAIN, library=False),
    ]
}


def one_thread() -> dict[str, str]:
    """What keeps every library to one thread. Without it, each takes what it takes by default."""
    names = [
        "STREW_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "TF_NUM_INTRAOP_THREADS",
        "TF_NUM_INTEROP_THREADS",
        "NUMBA_NUM_THREADS",
        "POLARS_MAX_THREADS",
    ]
    flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    return dict.fromkeys(names, "1") | flags
