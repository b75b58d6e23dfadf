"""The command line as a user types it."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import liewise
from liewise.cli import main


def run(capsys, *arguments):
    """Return the exit code and what was printed."""
    try:
        main(list(arguments))
        code = 0
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_help_and_version_import_neither_jax_nor_numpy():
    script = (
        "import sys\n"
        "from liewise.cli import main\n"
        "for argument in ('--version', '--help'):\n"
        "    try: main([argument])\n"
        "    except SystemExit as stop: assert not stop.code\n"
        "assert not {'jax', 'numpy', 'matplotlib'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"liewise {liewise.__version__}\n")
    assert "data" in done.stdout


def test_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "liewise", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"liewise {liewise.__version__}\n"


def test_list_names_every_set(capsys):
    code, out, _ = run(capsys, "data", "list")
    assert code == 0
    assert all(name in out for name in ("sprites", "mnist", "patch-camelyon"))


def test_fetch_of_what_is_built_in(capsys):
    assert run(capsys, "data", "fetch", "sprites")[:2] == (0, "sprites is built in: there is nothing to fetch\n")


def test_show_writes_a_picture_and_never_over_another(tmp_path, capsys):
    out = tmp_path / "new" / "grid.png"
    arguments = (
        "data",
        "show",
        "sprites",
        "--size",
        "32",
        "--rows",
        "1",
        "--transforms",
        "rotation",
        "--out",
        str(out),
    )
    assert run(capsys, *arguments)[:2] == (0, f"wrote {out}\n")
    with Image.open(out) as picture:
        assert picture.size[0] > 1000
    code, _, err = run(capsys, *arguments)
    assert (code, err) == (2, f"liewise: {out} is there already; --force replaces it\n")
    assert run(capsys, *arguments, "--force")[0] == 0


def photos(folder):
    """Three good images of two sizes, one of a single colour, and one that is none."""
    rng = np.random.default_rng(0)
    for index, size in enumerate([(9, 9), (9, 9), (12, 16)]):
        Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8)).save(folder / f"{index}.png")
    Image.new("RGB", (9, 9)).save(folder / "black.png")
    (folder / "page.jpg").write_text("<html>")
    return str(folder)


def test_a_folder_is_read_as_the_messages_advise(tmp_path, capsys):
    (tmp_path / "photos").mkdir()
    arguments = ["data", "show", photos(tmp_path / "photos"), "--transforms", "rotation", "--rows", "1"]
    arguments += ["--out", str(tmp_path / "grid.png")]
    for message, advice in [
        ("1 image in .* cannot be read: page.jpg .* leave them out with skip_unreadable=True", ["--skip-unreadable"]),
        ("got 3 of 9x9, 1 of 12x16 .* Give size=.* and resize=", ["--size", "16", "--resize", "pad"]),
        ("of 4 images, 1 is constant .* constant='skip' leaves them out", ["--constant", "skip"]),
    ]:
        code, _, err = run(capsys, *arguments)
        assert (code, bool(re.search(message, err))) == (2, True), err
        arguments += advice
    code, _, err = run(capsys, *arguments, "--background", "20")
    assert code == 0
    assert err.splitlines() == [
        "note: 4 images resized to 16x16 (pad)",
        "note: 1 constant image skipped: black.png",
        "note: 1 unreadable image skipped: page.jpg (cannot be identified as an image)",
    ]


def test_arrays_are_read_by_the_key_and_the_layout_that_are_given(tmp_path, capsys):
    images = np.random.default_rng(0).integers(0, 256, (4, 3, 9, 3), dtype=np.uint8)
    np.savez(tmp_path / "a.npz", pictures=images)
    arguments = ["data", "show", str(tmp_path / "a.npz"), "--rows", "1", "--out", str(tmp_path / "grid.png")]
    assert "Name the right one with key=" in run(capsys, *arguments)[2]
    arguments += ["--key", "pictures"]
    assert "say layout='HWC' or 'CHW'" in run(capsys, *arguments)[2]
    arguments += ["--layout", "CHW", "--transforms", "rotation"]
    assert run(capsys, *arguments)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("spritez",), "unknown data set 'spritez'. Did you mean 'sprites'?"),
        (("no/such/folder",), "there is nothing at no/such/folder"),
        (("sprites", "--transforms", "twist"), "no transformation 'twist'; there are affine"),
        (("sprites", "--transforms", ""), "no transformation ''"),
        (("sprites", "--transforms", "hue"), "colour needs images [height, width, 3]; got (64, 64, 1)"),
        (("sprites", "--split", "val"), "has no split 'val'; it has: train, test"),
        (("sprites", "--rows", "0"), "--rows is 1 or more"),
        (("sprites", "--resize", "pad"), "unknown option resize for sprites; it knows: n, n_test, size"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(arguments, message, tmp_path, capsys):
    code, _, err = run(capsys, "data", "show", *arguments, "--out", str(tmp_path / "grid.png"))
    assert code == 2
    assert err.startswith("liewise: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_named(tmp_path, capsys):
    tmp_path.chmod(0o500)
    code, _, err = run(capsys, "data", "show", "sprites", "--rows", "1", "--out", str(tmp_path / "a" / "grid.png"))
    assert code == 2
    assert "Permission denied" in err


def test_a_file_where_a_folder_should_be_is_named(tmp_path, capsys):
    (tmp_path / "a").write_text("")
    code, _, err = run(capsys, "data", "show", "sprites", "--rows", "1", "--out", str(tmp_path / "a" / "grid.png"))
    assert (code, err) == (2, f"liewise: {tmp_path / 'a'}: File exists\n")


def test_an_unknown_option_is_exit_code_2(capsys):
    assert run(capsys, "data", "show", "sprites", "--colour")[0] == 2
