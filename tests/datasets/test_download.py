"""Fetching, against a server that breaks off, ignores ranges, lies, or is not there."""

import errno
import gzip
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from liewise.datasets import download as fetching
from liewise.datasets.download import RemoteFile, checksum, download
from liewise.errors import DataError

DATA = np.random.default_rng(0).integers(0, 256, 700_000, dtype=np.uint8).tobytes()


def remote(server, *names: str, data: bytes = DATA, **more) -> RemoteFile:
    """A file called a.bin that is offered under these names."""
    digest = hashlib.sha256(data).hexdigest()
    urls = tuple(server.url(name) for name in names)
    return RemoteFile("a.bin", urls, f"sha256:{digest}", len(data), **more)


def test_fetches_a_file_once_and_leaves_nothing_else(server, tmp_path: Path):
    server.files["a"] = DATA
    for _ in range(2):
        path = download(remote(server, "a"), tmp_path / "new" / "folder", progress=False)
    assert path.read_bytes() == DATA
    assert len(server.asked) == 1
    assert [p.name for p in path.parent.iterdir() if not p.name.startswith(".")] == ["a.bin"]


def test_resumes_where_the_transfer_broke_off(server, tmp_path: Path):
    server.files["a"], server.manners["a"] = DATA, "break-once"
    path = download(remote(server, "a"), tmp_path, progress=False)
    assert path.read_bytes() == DATA
    assert server.asked_for("a") == [None, f"bytes={len(DATA) // 2}-"]


def test_resumes_what_an_earlier_process_left_behind(server, tmp_path: Path):
    server.files["a"] = DATA
    (tmp_path / "a.bin.part").write_bytes(DATA[:1000])
    assert download(remote(server, "a"), tmp_path, progress=False).read_bytes() == DATA
    assert server.asked_for("a") == ["bytes=1000-"]


@pytest.mark.parametrize("size", [len(DATA), len(DATA) + 5])
def test_a_part_that_is_complete_or_too_long_is_put_right(server, tmp_path: Path, size: int):
    server.files["a"] = DATA
    (tmp_path / "a.bin.part").write_bytes((DATA + b"extra")[:size])
    assert download(remote(server, "a"), tmp_path, progress=False).read_bytes() == DATA


def test_starts_anew_where_the_server_ignores_ranges(server, tmp_path: Path):
    server.files["a"], server.manners["a"] = DATA, "no-range"
    (tmp_path / "a.bin.part").write_bytes(b"x" * 1000)
    assert download(remote(server, "a"), tmp_path, progress=False).read_bytes() == DATA


def test_a_wrong_part_is_found_by_its_checksum_and_fetched_again(server, tmp_path: Path):
    server.files["a"] = DATA
    (tmp_path / "a.bin.part").write_bytes(b"x" * 1000)
    assert download(remote(server, "a"), tmp_path, progress=False).read_bytes() == DATA
    assert server.asked_for("a") == ["bytes=1000-", None]


def test_a_server_that_sends_another_range_is_not_believed(server, tmp_path: Path):
    server.files |= {"a": DATA, "b": DATA}
    server.manners["a"] = "wrong-range"
    (tmp_path / "a.bin.part").write_bytes(DATA[:1000])
    assert download(remote(server, "a", "b"), tmp_path, progress=False).read_bytes() == DATA
    assert server.asked_for("b") == ["bytes=1000-"]


def test_takes_the_next_mirror_when_the_first_has_nothing(server, tmp_path: Path):
    server.files["good"] = DATA
    assert download(remote(server, "gone", "good"), tmp_path, progress=False).read_bytes() == DATA


def test_wrong_contents_are_refused_and_not_kept(server, tmp_path: Path):
    server.files["bad"] = DATA[:-1] + b"!"
    found = hashlib.sha256(server.files["bad"]).hexdigest()
    with pytest.raises(DataError, match=f"wrong contents: expected sha256:[0-9a-f]+, got {found}"):
        download(remote(server, "bad"), tmp_path, progress=False)
    assert [p.name for p in tmp_path.iterdir()] == [".a.bin.lock"]
    assert len(server.asked) == 1


def test_a_mirror_that_always_breaks_off_is_given_up(server, tmp_path: Path):
    server.files["a"], server.manners["a"] = DATA, "break-always"
    (tmp_path / "a.bin.part").write_bytes(DATA[:1000])
    with pytest.raises(DataError, match="broke off after 1000 of 700000 bytes"):
        download(remote(server, "a"), tmp_path, progress=False)
    assert (tmp_path / "a.bin.part").read_bytes() == DATA[:1000]


def test_offline_it_says_which_file_to_put_where(tmp_path: Path):
    file = RemoteFile("a.bin", ("http://127.0.0.1:9/a.bin", "http://127.0.0.1:9/b.bin"), "md5:" + "0" * 32, 10)
    with pytest.raises(DataError) as caught:
        download(file, tmp_path, progress=False)
    for part in ("a.bin", "0" * 32, "127.0.0.1:9/a.bin", "127.0.0.1:9/b.bin", str(tmp_path), "LIEWISE_DATA_DIR"):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_disk_too_small_is_named_before_anything_is_fetched(server, tmp_path: Path):
    file = RemoteFile("a.bin", (server.url("a"),), "md5:" + "0" * 32, 10**18)
    with pytest.raises(DataError, match=r"expected .* MB free in .* for a.bin"):
        download(file, tmp_path, progress=False)
    assert server.asked == []


def test_a_disk_that_fills_up_on_the_way_is_named_and_no_other_mirror_is_asked(
    server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(response, out, bar):
        out.write(response.read(1000))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    server.files |= {"a": DATA, "b": DATA}
    with monkeypatch.context() as patch:
        patch.setattr(fetching, "_copy", full)
        with pytest.raises(DataError, match=r"cannot write .*a\.bin: .*No space left on device"):
            download(remote(server, "a", "b"), tmp_path, progress=False)
    assert server.asked == [("/a", None)]
    assert not (tmp_path / "a.bin").exists()
    assert download(remote(server, "a", "b"), tmp_path, progress=False).read_bytes() == DATA
    assert server.asked_for("a") == [None, "bytes=1000-"]


def test_a_folder_that_cannot_be_made_is_named(server, tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match=r"cannot write .*a\.bin"):
        download(remote(server, "a"), tmp_path / "file" / "folder", progress=False)


def test_the_checksum_of_contents_does_not_care_how_they_were_packed(server, tmp_path: Path):
    server.files |= {"torn": gzip.compress(DATA)[:-20], "good": gzip.compress(DATA, 1)}
    digest = hashlib.sha256(DATA).hexdigest()
    urls = (server.url("torn"), server.url("good"))
    file = RemoteFile("a.gz", urls, f"sha256:{digest}", 1, of_contents=True)
    path = download(file, tmp_path, progress=False)
    assert gzip.decompress(path.read_bytes()) == DATA
    assert checksum(path, "sha256") != digest == checksum(path, "sha256", of_contents=True)


def test_without_a_terminal_progress_is_one_line(server, tmp_path: Path, capfd: pytest.CaptureFixture):
    server.files["a"] = DATA
    download(remote(server, "a"), tmp_path, progress=True)
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err == f"fetching a.bin (0.7 MB) from {server.url('a')}\n"


def test_on_a_terminal_progress_is_a_bar(
    server, tmp_path: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")
    server.files["a"], server.manners["a"] = DATA, "break-once"
    download(remote(server, "a"), tmp_path, progress=True)
    assert "a.bin" in capfd.readouterr().err


def test_two_processes_that_want_the_same_file_fetch_it_once(server, tmp_path: Path):
    server.files["a"] = DATA
    file = remote(server, "a")
    code = (
        "from pathlib import Path; from liewise.datasets.download import RemoteFile, download;"
        f"download({file!r}, Path({str(tmp_path)!r}), progress=False)"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    assert (tmp_path / "a.bin").read_bytes() == DATA
    assert len(server.asked) == 1
