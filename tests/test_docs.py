"""Every Python block of the README and the docs runs, in order, page by page."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [p for p in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if "```python" in p.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    names = {"__name__": page.stem}
    for block in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
        needed = re.match(r"# needs: (\w+)", block[1])
        if needed and importlib.util.find_spec(needed[1]) is None:
            continue  # an optional package; the blocks after it do without
        line = text[: block.start()].count("\n") + 1
        code = compile("\n" * line + block[1], str(page), "exec")
        exec(code, names)


def test_links_between_pages_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
