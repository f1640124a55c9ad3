"""Graph networks trained with strew in the place of torch's own scatters, and one large step.

Run it from the project's root, in a fresh virtual environment (2 GB of downloads, 6 GB of memory):

    pip install . torch==2.15.0 torch_geometric==2.8.1
    python examples/gnn.py            # --small: the same in seconds

Two networks of torch_geometric learn the four groups of Zachary's karate club, which comes with
torch_geometric. The networks do not mention strew. ``strew.torch_scatter.install(pyg=True)`` puts
it behind torch_geometric's functions. Weights are compared bit by bit between repetitions and
numbers of threads. Then messages along 2 million edges are reduced, forward and backward, by
strew, by torch, and by torch_scatter if that is installed.
"""

import argparse
import statistics
import sys
import time
from collections import Counter

import strew
import torch
import torch_geometric
from torch_geometric.datasets import KarateClub
from torch_geometric.nn import GAT, GraphSAGE

NETWORKS = {"GraphSAGE": GraphSAGE, "GAT": GAT}


def use_threads(count):
    torch.set_num_threads(count)
    strew.set_num_threads(count)


def train(network, data, epochs):
    """The weights after some epochs, the share of right answers, and milliseconds per epoch."""
    torch.manual_seed(1)
    model = NETWORKS[network](data.num_features, 32, num_layers=3, out_channels=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    seconds = []
    for _ in range(epochs):
        begin = time.perf_counter()
        optimizer.zero_grad()
        found = model(data.x, data.edge_index)
        torch.nn.functional.cross_entropy(
            found[data.train_mask], data.y[data.train_mask]
        ).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    with torch.no_grad():
        right = model(data.x, data.edge_index).argmax(-1) == data.y
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    return weights, right[~data.train_mask].float().mean().item(), statistics.median(seconds) * 1e3


def calls_of_strew(run):
    """How often which of strew's public functions is called."""
    counts = Counter()

    def count(frame, event, _):
        # "strew.torch._scatter" belongs to the public module "torch".
        package, public, *_ = [*frame.f_globals.get("__name__", "").split("."), "", ""]
        name = frame.f_code.co_name
        if (
            event == "call"
            and package == "strew"
            and public in ("torch", "torch_scatter")
            and not name.startswith("_")
        ):
            counts[f"{public}.{name}"] += 1

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counts


def karate(epochs):
    data = KarateClub()[0]
    known = int(data.train_mask.sum())
    print(
        f"Karate club, {data.num_nodes} nodes, of which {known} are known, "
        f"{data.num_edges} edges, {epochs} epochs"
    )
    print(f"{'':<12}{'accuracy':>20}{'ms per epoch':>20}")
    print(f"{'':<12}{'torch':>10}{'strew':>10}{'torch':>10}{'strew':>10}")
    for network in NETWORKS:
        use_threads(1)
        assert not calls_of_strew(lambda: train(network, data, 1))
        _, torch_accuracy, torch_time = train(network, data, epochs)
        strew.torch_scatter.install(pyg=True)
        weights, accuracy, strew_time = train(network, data, epochs)
        calls = calls_of_strew(lambda: train(network, data, 1))
        assert calls.total() > 0
        for threads in (1, 2, 2):
            use_threads(threads)
            again, *_ = train(network, data, epochs)
            assert torch.equal(weights.view(torch.int32), again.view(torch.int32))
        strew.torch_scatter.uninstall()
        assert accuracy == torch_accuracy
        print(
            f"{network:<12}{torch_accuracy:>10.1%}{accuracy:>10.1%}{torch_time:>10.2f}{strew_time:>10.2f}"
        )
        print(f"{'':<12}strew's calls in one epoch and one test: {dict(calls)}")
        print(f"{'':<12}the same weights bit for bit in 4 runs, with 1 and with 2 threads")


def torch_reduce(messages, target, nodes, reduce):
    """As torch_geometric does it on CPU."""
    index = target[:, None].expand_as(messages)
    out = messages.new_zeros(nodes, messages.shape[1])
    if reduce == "max":
        return out.scatter_reduce(0, index, messages, "amax", include_self=False)
    out = out.scatter_add(0, index, messages)
    if reduce == "mean":
        counts = messages.new_zeros(nodes).scatter_add_(0, target, messages.new_ones(len(target)))
        out = out / counts.clamp(min=1)[:, None]
    return out


def contenders():
    def reduce_by(scatter):
        return lambda messages, target, nodes, reduce: scatter(
            messages, target, 0, None, nodes, reduce
        )

    found = {"torch": torch_reduce, "strew": reduce_by(strew.torch_scatter.scatter)}
    try:
        import torch_scatter
    except ImportError:
        return found
    return found | {"torch_scatter": reduce_by(torch_scatter.scatter)}


def one_step(edges, nodes, width, rounds):
    made = torch.Generator().manual_seed(21)
    source, target = torch.randint(0, nodes, (2, edges), generator=made)
    grad = torch.randn(nodes, width, generator=made)
    messages = torch.randn(edges, width, generator=made).requires_grad_()
    features = torch.randn(nodes, width, generator=made).requires_grad_()
    # Either the messages are there already, or they are picked from the nodes, by torch for
    # everybody.
    steps = {
        "sum of messages": (messages, lambda m: m, "sum"),
        "mean of messages": (messages, lambda m: m, "mean"),
        "max of messages": (messages, lambda m: m, "max"),
        "x[source], then sum": (features, lambda x: x.index_select(0, source), "sum"),
    }
    threads = torch.get_num_threads()
    print(
        f"\n{edges:,} edges x {width}, {nodes:,} nodes, {threads} threads, "
        f"median ms of {rounds}: forward + backward"
    )
    named = contenders()
    print(f"{'':<22}" + "".join(f"{name:>26}" for name in named))
    for step, (leaf, prepare, reduce) in steps.items():
        times = {name: ([], []) for name in named}
        answers = {}
        for _ in range(rounds):
            for name, run in named.items():
                begin = time.perf_counter()
                out = run(prepare(leaf), target, nodes, reduce)
                middle = time.perf_counter()
                (found,) = torch.autograd.grad(out, leaf, grad)
                end = time.perf_counter()
                times[name][0].append((middle - begin) * 1e3)
                times[name][1].append((end - middle) * 1e3)
                answers[name] = out.detach(), found
                del out, found
        for values in answers.values():
            for a, b in zip(values, answers["strew"], strict=True):
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
        medians = [[statistics.median(part) for part in times[name]] for name in named]
        print(
            f"{step:<22}" + "".join(f"{f'{a:.1f} + {b:.1f} = {a + b:.1f}':>26}" for a, b in medians)
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="few epochs and a small graph")
    small = parser.parse_args().small
    print(
        f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}, "
        f"strew {strew.__version__}"
    )
    threads = torch.get_num_threads()
    karate(epochs=20 if small else 100)
    use_threads(threads)
    one_step(*((20_000, 2_000, 16, 3) if small else (2_000_000, 200_000, 64, 5)))


if __name__ == "__main__":
    main()
