"""The frame of studies: what they give is printed, written and turned into pages; what is not there is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from rich.console import Console
from tiny_studies import FittingContext

from liewise.cli import main
from liewise.errors import LiewiseError
from liewise.studies import STUDIES, Study, registry, study_named
from liewise.studies.context import Context
from liewise.studies.outcome import Measured, Outcome, Picture, Table
from liewise.studies.running import run_study
from liewise.studies.settings import mnist_rotated


def fake(context):
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1], [0, context.seed])
    cells = (("rotation | hue", Measured(0.5, at_most=0.04), 12_345), ("shift", Measured(0.02, at_most=0.04), None))
    table = Table("How far off", ("coordinate", "KS", "n"), cells)
    return Outcome({"lines": Picture(figure, "A line.")}, (table,), ("A note.",))


@pytest.fixture
def study(monkeypatch):
    monkeypatch.setattr(registry, "fake", fake, raising=False)
    made = Study("fake", "A fake", "Shows nothing.", "registry:fake")
    monkeypatch.setitem(STUDIES, "fake", made)
    return made


def test_a_study_leaves_pictures_tables_and_all_that_is_known_of_the_run(study, tmp_path):
    console = Console(record=True, width=100)
    run_study(study, Context(folder=tmp_path / "out", seed=3), console=console)
    folder = tmp_path / "out" / "fake-small-seed3"
    assert {path.name for path in folder.iterdir()} == {"lines.png", "tables.md", "outcome.json"}
    found = json.loads((folder / "outcome.json").read_text())
    assert (found["scale"], found["seed"], found["command"]) == (
        "small",
        3,
        "liewise study run fake --scale small --seed 3",
    )
    assert found["tables"][0]["rows"][0] == {
        "coordinate": "rotation | hue",
        "KS": {"value": 0.5, "met": False, "at_most": 0.04},
        "n": 12_345,
    }
    assert found["tables"][0]["missed"] == 1
    printed = console.export_text()
    assert "0.5 (≤ 0.04)" in printed
    assert "1 of its numbers misses the target" in printed
    assert "A note." in printed


def test_a_page_has_the_figure_the_table_the_command_and_the_machine(study, tmp_path):
    run_study(study, Context(folder=tmp_path), page=tmp_path / "docs", console=Console(quiet=True))
    text = (tmp_path / "docs" / "fake.md").read_text()
    assert text.startswith("# A fake\n\nShows nothing.\n\n![A line.](fake-lines.png)")
    assert "| rotation \\| hue | **0.5 (≤ 0.04)** | 12,345 |\n| shift | 0.02 (≤ 0.04) |  |" in text
    assert "liewise study run fake --scale small --seed 0" in text
    assert "cores, Python" in text
    with Image.open(tmp_path / "docs" / "fake-lines.png") as picture:
        assert picture.size == (300, 150)


def test_data_of_ones_own_is_refused_where_a_study_has_no_use_for_it(study, tmp_path):
    with pytest.raises(LiewiseError, match="fake has its own data"):
        run_study(study, Context(folder=tmp_path, data="photos"))
    assert not list(tmp_path.iterdir())


def test_a_row_has_a_cell_for_every_column():
    with pytest.raises(LiewiseError, match="expected 2 cells a row in the table 'T'; got 1"):
        Table("T", ("a", "b"), ((1,),))


def test_targets_may_be_from_above_from_below_or_absent():
    assert Measured(0.04, at_most=0.04).met
    assert not Measured(float("nan"), at_most=0.04).met
    assert Measured(0.96, at_least=0.95).words == "0.96 (≥ 0.95)"
    assert Measured(3.0).met


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_in_the_list_can_be_loaded(name):
    assert callable(study_named(name).load())


def test_an_unknown_study_is_refused_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["study", "run", "sgm-fig99"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("liewise: no study 'sgm-fig99'; there are sgm-fig8, ")


def test_the_list_is_printed_without_waiting_for_jax():
    script = (
        "import sys\n"
        "from liewise.cli import main\n"
        "main(['study', 'list'])\n"
        "assert not {'jax', 'numpy', 'matplotlib'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in STUDIES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::liewise.errors.LiewiseWarning")  # three steps do not make a good model
def test_a_fit_is_made_once_and_read_again(tmp_path):
    setting = mnist_rotated(15.0)
    made = FittingContext(folder=tmp_path, progress="silent").fit(setting)
    again = FittingContext(folder=tmp_path, progress="silent").fit(setting)
    assert (made.reused, again.reused) == (False, True)
    images = made.examples.test.images
    assert np.array_equal(made.model.pose(images), again.model.pose(images))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::liewise.errors.LiewiseWarning")  # three steps do not make a good model
def test_a_fit_of_other_data_is_not_taken(tmp_path):
    setting = mnist_rotated(15.0)
    FittingContext(folder=tmp_path, progress="silent").fit(setting)
    other = FittingContext(folder=tmp_path, progress="silent")
    other.train = 64
    with pytest.raises(LiewiseError, match="holds another run"):
        other.fit(setting)
