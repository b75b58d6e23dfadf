"""A run's page is one file, says what the model says, and can be read by everyone; what is broken is named."""

import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

from liewise.cli import main
from liewise.report.page.answer import Row, answer, rows_of
from liewise.report.page.facts import Facts
from liewise.report.page.markup import embedded, tag
from liewise.report.page.seen import Seen
from liewise.sgm import SGM
from liewise.train import RunFolder


class Page(HTMLParser):
    """Elements with their attributes, texts, and the data for the script."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.data = [], [], {}
        self._script = None
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        self._script = dict(attributes).get("id") if name == "script" else None

    def handle_data(self, data):
        if self._script:
            self.data[self._script] = json.loads(data)
        else:
            self.texts.append(data)

    def all(self, name):
        return [attributes for element, attributes in self.elements if element == name]


@pytest.fixture(scope="session")
def parsed(page):
    return Page(page.read_text("utf-8"))


@pytest.fixture(scope="session")
def model(run_dir):
    return SGM.load(run_dir)


@pytest.fixture(scope="session")
def seen(run_dir, model):
    kept = RunFolder(run_dir).examples()
    return Seen(model, kept["images"], kept["labels"], ("square", "ellipse", "heart"))


def test_the_page_is_one_small_file_that_needs_nothing_else(page, parsed):
    assert page.stat().st_size < 5e6
    for _, attributes in parsed.elements:
        for name in ("src", "href", "data", "poster", "srcset", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:")), attributes
    assert not re.search(r"url\((?!data:)|@import|https?://", page.read_text("utf-8"))


def test_every_part_can_be_named_by_a_screen_reader(parsed):
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(image.get("alt") for image in parsed.all("img"))
    assert all(svg.get("aria-label") for svg in parsed.all("svg"))
    assert {cell.get("scope") for cell in parsed.all("th")} == {"row", "col"}
    labelled = {label.get("for") for label in parsed.all("label")}
    assert all(field["type"] == "radio" or field["id"] in labelled for field in parsed.all("input"))
    names = [name for name, _ in parsed.elements]
    assert all(names[i - 1] == "label" for i, (_, a) in enumerate(parsed.elements) if a.get("type") == "radio")
    assert [a["aria-live"] for a in parsed.all("output")] == ["polite"]
    assert names.count("h1") == names.count("main") == 1
    assert parsed.all("html")[0]["lang"] == "en"
    assert all(link["href"][1:] in ids for link in parsed.all("a"))


def test_names_of_the_data_are_no_markup(page, parsed):
    assert "<sprites>" not in page.read_text("utf-8").replace("&lt;sprites>", "")
    assert "<sprites> & co" in parsed.texts
    assert tag("p", "<b>", title='"') == '<p title="&quot;">&lt;b&gt;</p>'
    assert "</script><p>" not in embedded("data", "</script><p>")


def test_the_answer_is_the_models(parsed, model, run_dir):
    kept = RunFolder(run_dir).examples()
    for found in model.summary(kept["images"], kept.get("labels")).findings:
        if found.coordinate.steps is not None:
            assert f"{found.high:.0%} of natural versions are the other way round" in parsed.texts
        elif found.box[0] < found.box[1]:
            assert f"{found.low:+.0f}° to {found.high:+.0f}°".replace("-", "−") in parsed.texts


def test_the_curves_are_the_models_densities(parsed, model, seen):
    data = parsed.data["explorer-data"]
    assert [c["name"] for c in data["coordinates"]] == ["rotation", "flip-x"]
    densities = model.density(seen.images[seen.shown])
    turned, mirrored = densities.marginal("rotation"), densities.marginal("flip-x")
    for place, example in enumerate(data["examples"]):
        middle = np.degrees(seen.middle[seen.shown[place], 0])
        degrees = middle + np.linspace(-180, 180, 37)
        expected = np.interp(degrees, turned.values, turned.density[place], period=360)
        shown = np.array(example["curves"][0]["natural"])
        np.testing.assert_allclose(shown, expected / turned.density[place].max(), atol=0.05)
        share = sorted(mirrored.density[place] / mirrored.density[place].max())
        np.testing.assert_allclose(sorted(example["curves"][1]["natural"]), share, atol=1e-3)
    assert data["coordinates"][0]["values"][::18] == ["−180°", "0°", "+180°"]
    assert data["coordinates"][1]["values"] == ["as it is", "mirrored"]


def test_an_example_at_its_own_place_is_itself(seen):
    still = seen.posed(1, seen.poses[1:2])[0].astype(int)
    assert np.abs(still - seen.pictures[1]).max() <= 1


def test_verdicts_by_class_modes_and_notes_are_shown(seen):
    rows = [
        Row("rotation", -95.0, 95.0, (-180.0, 180.0), "several modes", (-90.0, 90.0), sure=0.9, notes=("a note",)),
        Row("rotation", 0.0, 0.0, (-180.0, 180.0), "absent", among="heart", sure=1.0),
    ]
    section = answer(seen, rows).html
    texts = Page(section).texts
    assert {"several modes", "at −90° and +90°, within −95° to +95°", "a note", "90%", "absent", "heart"} <= set(texts)
    assert [row.coordinate for row in rows_of(seen) if row.among == "all"] == ["rotation", "flip-x"]


def test_the_command_makes_the_same_run(run_dir):
    assert Facts.of(run_dir).command == (
        "liewise fit sprites --size 16 --split train --transforms rotation,flip-x --steps 4 --density-steps 4 --seed 0"
        f" --out {run_dir}"
    )


def test_a_half_trained_run_shows_its_training_and_says_so(run_dir, tmp_path, capsys):
    half = shutil.copytree(run_dir, tmp_path / "half")
    (half / "result.json").unlink()
    shutil.rmtree(half / "model")
    with (half / "density" / "metrics.jsonl").open("r+b") as file:
        file.truncate(file.seek(0, 2) - 20)  # a row that is being written
    main(["report", str(half)])
    assert (
        capsys.readouterr().out == f"wrote {half / 'report.html'}; the run is not finished: it shows training alone\n"
    )
    text = (half / "report.html").read_text("utf-8")
    assert "This run is not finished." in text
    assert "Learning densities is at step 0 of 4." in text
    assert 'id="explore"' not in text


def broken(folder, how):
    if how == "config":
        (folder / "config.json").write_text('{"format": 1')
    if how == "kind":
        config = json.loads((folder / "config.json").read_text())
        config["settings"]["model"] = "vae"
        (folder / "config.json").write_text(json.dumps(config))
    if how == "result":
        (folder / "result.json").write_text("{")
    if how == "examples":
        (folder / "examples.npz").write_bytes(b"PK")
    if how == "weights":
        next((folder / "model").glob("*.safetensors")).write_bytes(b"")
    if how == "there":
        (folder / "report.html").write_text("mine")
    return folder


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("config", "config.json is torn"),
        ("kind", "is of 'vae'; a report needs one of `liewise fit`"),
        ("result", "result.json is torn"),
        ("examples", "examples.npz is missing or torn"),
        ("weights", "safetensors"),
        ("there", "report.html is there already; --force replaces it"),
    ],
)
def test_what_is_broken_is_one_line_and_exit_code_2(how, message, run_dir, tmp_path, capsys):
    folder = broken(shutil.copytree(run_dir, tmp_path / "run"), how)
    with pytest.raises(SystemExit) as stop:
        main(["report", str(folder)])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert said.startswith("liewise: ")
    assert said.count("\n") == 1
    assert message in said
    assert how == "there" or not (folder / "report.html").exists()


def test_a_folder_without_a_run_and_a_place_that_cannot_be_written_are_named(run_dir, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for arguments, message in [
        ([str(tmp_path / "none")], "there is no such folder"),
        ([str(tmp_path)], "there is no config.json"),
        ([str(run_dir), "--out", str(tmp_path)], "is a folder; name the file to write"),
        ([str(run_dir), "--out", str(tmp_path / "file" / "a.html")], "cannot be written: "),
    ]:
        with pytest.raises(SystemExit) as stop:
            main(["report", *arguments])
        said = capsys.readouterr().err
        assert (stop.value.code, said.count("\n")) == (2, 1)
        assert message in said


def test_force_replaces_the_page(run_dir, tmp_path):
    out = tmp_path / "page.html"
    out.write_text("mine")
    main(["report", str(run_dir), "--out", str(out), "--force"])
    assert out.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
