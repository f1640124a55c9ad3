"""Runs the examples of docs/site: `run(page)` executes the blocks of a page that are marked `python`.

The blocks of a page are one script. An expression with a comment behind it is an example: the comment is its value,
`...` in it stands for any text, and the name of an exception means that it is raised. A page that uses other packages
than NumPy names them in its first lines: `needs: [torch]`.
"""

import ast
import builtins
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

SITE = Path(__file__).parents[2] / "docs/site"

STAGES = {
    "alone": set(),
    "libraries": {
        "dask",
        "flox",
        "numpy_groupies",
        "pandas",
        "polars",
        "pyarrow",
        "scipy",
        "xarray",
    },
    "peers": {"jax", "torch"},
}
"""What is installed, besides NumPy, where pages are tested: in python/tests, and in its folders of these names."""


def pages():
    return sorted(path for path in SITE.rglob("*.md") if blocks(path).strip())


def pages_of(stage):
    """The pages that are tested in a stage: the first of `STAGES` that has all that they need."""
    return [
        page
        for page in pages()
        if next((name for name, has in STAGES.items() if needs(page) <= has), None) == stage
    ]


def name_of(page):
    return page.relative_to(SITE).with_suffix("").as_posix()


def needs(page):
    """The packages that a page needs besides NumPy."""
    found = re.match(r"---\n(?:.*\n)*?needs: \[(.*)\]\n", page.read_text())
    return set(re.split(r",\s*", found[1])) if found else set()


def blocks(page):
    """The page's Python, each line where it stands in the page."""
    kept, inside = [], False
    for line in page.read_text().splitlines():
        fence = line.startswith("```")
        kept.append("" if fence or not inside else line)
        if fence:
            inside = line == "```python"
    return "\n".join(kept) + "\n"


def shown(value):
    """A value as pages write it."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OU":
        return np.array2string(value, separator=", ", precision=4, threshold=50)
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, np.generic):
        return shown(np.asarray(value))
    if type(value) is tuple:
        return ", ".join(map(shown, value))
    return repr(value)


def fits(found, comment):
    """Whether a comment is a value, up to spaces."""
    found, comment = ("".join(text.split()) for text in (found, comment))
    pattern = ".*".join(map(re.escape, comment.split("...")))
    return re.fullmatch(pattern, found, flags=re.S) is not None


def comment_behind(lines, statement):
    """The comment behind the last line of a statement; None if there is none."""
    rest = lines[statement.end_lineno - 1].encode()[statement.end_col_offset :].decode().strip()
    return rest.removeprefix("#").strip() if rest.startswith("#") else None


def exception_of(comment):
    """The exception that a comment names; None if it names none."""
    word = comment.partition(":")[0]
    found = getattr(builtins, word, None) if word.isidentifier() else None
    return found if isinstance(found, type) and issubclass(found, Exception) else None


def check(code, comment, namespace, place):
    """Evaluates an example and compares it with its comment."""
    raised = exception_of(comment)
    try:
        value = eval(code, namespace)
    except Exception as error:
        assert raised and isinstance(error, raised), f"{place}: {error!r}"
        said = comment.partition(":")[2]
        assert not said or fits(str(error), said), f"{place}: {error}"
    else:
        assert not raised, f"{place}: no {raised.__name__}"
        assert fits(shown(value), comment), f"{place}: {shown(value)}"


def run(page):
    """Runs the examples of a page. Gives how many were compared: comments and assertions."""
    source = blocks(page)
    lines = source.splitlines()
    namespace, compared = {"__name__": page.stem}, 0
    for statement in ast.parse(source, str(page)).body:
        comment = comment_behind(lines, statement)
        if isinstance(statement, ast.Expr) and comment is not None:
            code = compile(ast.Expression(statement.value), str(page), "eval")
            check(code, comment, namespace, f"{page.name}:{statement.lineno}")
            compared += 1
        else:
            exec(compile(ast.Module([statement], []), str(page), "exec"), namespace)
            compared += isinstance(statement, ast.Assert)
    return compared


def moving(stage):
    """The pages of a stage that say call by call how to move from another library."""
    return [page for page in pages_of(stage) if page.parent.name == "moving"]


def pairs(page):
    """The rows of calls of such a page."""
    found = []
    for line in page.read_text().splitlines():
        cells = line.strip("| ").split(" | ") if line.startswith("| `") else []
        calls = [cell.strip("`") for cell in cells]
        if len(calls) > 1 and all("(" in call or "[" in call for call in calls):
            found.append(calls)
    return found


def result_of(call, page):
    """What a call gives as a list of arrays: the page's own arrays if it changes one of them."""
    namespace = {}
    exec(compile(blocks(page), str(page), "exec"), namespace)
    made = eval(call, namespace)
    if made is None or any(made is value for value in namespace.values()):
        return [value for value in namespace.values() if isinstance(value, np.ndarray)]
    return [np.asarray(made)]


def compare_calls(page, calls):
    """Compares what the calls of a row give. torch_scatter need not be installed: it is compiled for each torch."""
    if find_spec("torch_scatter") is None:
        calls = [call for call in calls if not call.startswith("torch_scatter.")]
    assert len(calls) > 1
    first, *others = (result_of(call, page) for call in calls)
    for other in others:
        for one, two in zip(first, other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-6, err_msg=" and ".join(calls))
