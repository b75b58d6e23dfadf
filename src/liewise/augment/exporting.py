"""A fitted model as one Python file that needs NumPy alone: modules of this room, one after another, and arrays."""

import ast
import base64
import io
import json
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np

from liewise._version import __version__
from liewise.augment.sampler import Sampler
from liewise.errors import LiewiseError

__all__ = ["write_export"]

_MODULES = ("errors", *(f"augment/{name}" for name in ("drawing", "reading", "arithmetic", "shapes", "program")))
_MODULES += ("augment/borders", "augment/sampler")
_ROOT = Path(__file__).parents[1]

_HEAD = '''"""Natural versions of images under {names}.

Written by liewise {version}. It needs Python 3.11 and NumPy 2, or newer, and nothing else. Images are uint8 or floats
in [0, 1], {shape}, one or a batch, channels last or first; arrays, torch tensors or PIL images.

    pose(images)                     what takes each image's prototype to it, in the order of NAMES
    prototype(images)                each image with its transformation taken out
    resample(images, n=1, seed=0)    n other, equally natural versions of each: [images, n, height, width, channels]
"""
# ruff: noqa
'''
_TAIL = '''

def _read_sampler(text):
    """Read the programs and their arrays; no code is run in doing so."""
    with np.load(io.BytesIO(base64.b85decode("".join(text.split()))), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(arrays.pop("about").tobytes())
    programs = {name: Program(code, arrays) for name, code in about["programs"].items()}
    return Sampler(programs, about["image_shape"], about["names"])


_SAMPLER = _read_sampler(_DATA)
NAMES, IMAGE_SHAPE = _SAMPLER.names, _SAMPLER.image_shape
pose, prototype, resample = _SAMPLER.pose, _SAMPLER.prototype, _SAMPLER.resample
'''


def write_export(path: str | Path, sampler: Sampler, *, force: bool = False) -> None:
    """Write a sampler as one file; importing it needs neither JAX nor liewise."""
    path = Path(path)
    if path.suffix != ".py":
        raise LiewiseError(f"expected the name of a Python file, such as sampler.py; got {path}")
    if path.exists() and not force:
        raise LiewiseError(f"{path} is there already: give another name, or force=True")
    shape = "x".join(map(str, sampler.image_shape))
    head = _HEAD.format(names=", ".join(sampler.names), version=__version__, shape=shape)
    imports, bodies = _merged([(_ROOT / f"{name}.py").read_text() for name in _MODULES])
    data = textwrap.fill(base64.b85encode(_packed(sampler)).decode(), 120, break_on_hyphens=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, imports, *bodies, f'\n_DATA = r"""\n{data}\n"""', _TAIL]))


def _packed(sampler: Sampler) -> bytes:
    programs = sampler.programs
    about = {
        "programs": {name: programs[name].code for name in ("look", "draw", "relate", "act")},
        "image_shape": sampler.image_shape,
        "names": sampler.names,
    }
    arrays: dict[str, np.ndarray] = {}
    for name in about["programs"]:
        arrays |= programs[name].arrays
    arrays["about"] = np.frombuffer(json.dumps(about, allow_nan=False).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def _merged(sources: list[str]) -> tuple[str, list[str]]:
    """Return the imports of all, and the bodies, in which nothing may have the same name twice."""
    imports, bodies, names = {"import base64", "import io", "import json"}, [], Counter[str]()
    for source in sources:
        lines, tree = source.splitlines(), ast.parse(source)
        gone: set[int] = set()
        for node in tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            imported = isinstance(node, ast.Import | ast.ImportFrom)
            if imported and not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("liewise")):
                imports.add(ast.unparse(node))
            if imported or (isinstance(target, ast.Name) and target.id == "__all__"):
                gone |= set(range(node.lineno - 1, node.end_lineno or node.lineno))
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names[node.name] += 1
            elif isinstance(target, ast.Name):
                names[target.id] += 1
        bodies.append("\n".join(line for i, line in enumerate(lines) if i not in gone).rstrip() + "\n\n")
    twice = [name for name, count in names.items() if count > 1]
    assert not twice, f"the modules that are exported share the names {twice}"
    return "\n".join(sorted(imports)) + "\n", bodies
