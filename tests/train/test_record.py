import errno
import io
import json
import math
import re
import struct
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from tensorboardX.proto import event_pb2

from liewise.train import CheckpointWarning, TensorBoard, TrainConfig, TrainError, WandB
from liewise.train.pace import Pace
from liewise.train.progress import open_reporter
from liewise.train.record import Record


def _filled(path, steps):
    record = Record(path, (), 0)
    for step in steps:
        record.add({"step": step, "loss": step / 2})
    record.close()
    return path


def _steps(path):
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("tail", ["", '{"step": 9, "lo', "\0\0\0\n", '{"loss": 1.0}\n', "[]\n"])
def test_a_resumed_record_is_cut_back_to_its_step(tail, tmp_path):
    path = _filled(tmp_path / "metrics.jsonl", range(1, 9))
    with path.open("a") as file:
        file.write(tail)
    record = Record(path, (), 8)
    assert [row["step"] for row in record.rows] == list(range(1, 9))
    record = Record(path, (), 5)
    assert _steps(path) == [1, 2, 3, 4, 5]
    record.add({"step": 6, "loss": 0.0})
    record.flush(durably=True)
    assert _steps(path) == [1, 2, 3, 4, 5, 6]


def test_a_run_from_the_start_forgets_rows_of_an_older_one(tmp_path):
    path = _filled(tmp_path / "metrics.jsonl", range(1, 9))
    assert Record(path, (), 0).rows == []
    assert path.read_text() == ""


def test_rows_are_strict_json_and_nan_comes_back_as_nan(tmp_path):
    path = tmp_path / "metrics.jsonl"
    record = Record(path, (), 0)
    record.add({"step": 1, "loss": math.inf, "mse": 2.0})
    record.close()
    assert json.loads(path.read_text(), parse_constant=pytest.fail) == {"step": 1, "loss": None, "mse": 2.0}
    assert math.isnan(Record(path, (), 1).rows[0]["loss"])


def test_a_full_disk_is_a_warning_and_no_row_is_lost(tmp_path, monkeypatch):
    path = _filled(tmp_path / "metrics.jsonl", [1, 2])
    record = Record(path, (), 2)
    original = Path.open

    def full(self, *arguments):
        with original(self, "ab") as file:
            file.write(b'{"step": 3, "lo')  # as far as it went
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    record.add({"step": 3, "loss": 1.0})
    with pytest.warns(CheckpointWarning, match=r"metrics.jsonl was not written .*No space.*tried again"):
        record.flush()
    monkeypatch.undo()
    record.add({"step": 4, "loss": 1.0})
    record.flush()
    assert _steps(path) == [1, 2, 3, 4]


def _scalars(path):
    """What an event file says: records of a length and its checksum, a protocol buffer and its checksum."""
    data = path.read_bytes()
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        event = event_pb2.Event.FromString(data[12 : 12 + length])
        yield from ((event.step, value.tag, value.simple_value) for value in event.summary.value)
        data = data[16 + length :]


def test_tensorboard_gets_every_number(tmp_path):
    record = Record(None, (TensorBoard(tmp_path),), 0)
    record.add({"step": 3, "loss": 0.5, "kl": 2.0})
    record.add({"step": 4, "loss": 0.25})
    record.close()
    (path,) = tmp_path.iterdir()
    assert list(_scalars(path)) == [(3, "loss", 0.5), (3, "kl", 2.0), (4, "loss", 0.25)]


def test_wandb_gets_every_number_and_the_end(monkeypatch):
    calls = []
    run = SimpleNamespace(log=lambda values, step: calls.append((step, values)), finish=lambda: calls.append("finish"))
    fake = ModuleType("wandb")
    fake.init = lambda **keywords: calls.append(keywords) or run
    monkeypatch.setitem(sys.modules, "wandb", fake)
    record = Record(None, (WandB(project="liewise", mode="offline"),), 0)
    record.add({"step": 3, "loss": 0.5})
    record.close()
    assert calls == [{"project": "liewise", "mode": "offline"}, (3, {"loss": 0.5}), "finish"]


@pytest.mark.parametrize(
    ("module", "make", "extra"),
    [("tensorboardX", lambda: TensorBoard("nowhere"), "tensorboard"), ("wandb", WandB, "wandb")],
)
def test_a_missing_extra_is_named_with_its_remedy(module, make, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TrainError, match=re.escape(f"needs {module}: pip install 'liewise[{extra}]'")):
        make()


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def _watch(kind, stream):
    reporter = open_reporter(kind, 0, 200, stream)
    for step in range(10, 201, 10):
        values = {"step": step, "loss": 1 / step, "kl": 3.25, "grad_norm": 1.0}
        if step % 100 == 0:
            values["validation/loss"] = 0.125
        reporter.update(step, values)
    reporter.say("all [well]")
    reporter.close()
    return stream.getvalue()


def test_plain_lines_come_at_validations_and_now_and_then():
    lines = _watch("auto", io.StringIO()).splitlines()
    assert [line.split()[1] for line in lines[:-1]] == ["10/200", "100/200", "200/200"]
    assert re.search(r"loss 0.01  validation/loss 0.125  kl 3.25  .* steps/s, 0:00 left", lines[1])
    assert "grad_norm" not in lines[0]
    assert lines[-1] == "all [well]"


def test_a_terminal_gets_a_bar_with_rate_and_time_left(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    shown = _watch("auto", _Terminal())
    assert "200/200" in shown
    assert re.search(r"steps/s, 0:00 left", shown)
    assert "validation 0.125" in shown
    assert "all [well]" in shown


def test_silent_is_silent():
    assert _watch("silent", io.StringIO()) == ""


def test_an_unknown_kind_of_progress_is_refused():
    with pytest.raises(TrainError, match="'auto', 'bar', 'lines' or 'silent'; got 'loud'"):
        open_reporter("loud", 0, 1)


def test_calls_grow_to_the_wall_time_aimed_at_and_shrink_when_steps_get_slower():
    pace = Pace(TrainConfig(dispatch_steps=500, dispatch_seconds=1.0))
    lengths = []
    for seconds_per_step in [0.01] * 6 + [0.1] * 3:
        lengths.append(pace.length)
        pace.observe(pace.length, pace.length * seconds_per_step)
    assert lengths == pytest.approx([1, 8, 64, 100, 100, 100, 100, 10, 10], abs=1)


def test_calls_never_exceed_the_most_steps():
    pace = Pace(TrainConfig(dispatch_steps=30))
    for _ in range(5):
        pace.observe(pace.length, 0.0)
    assert pace.length == 30
    assert Pace(TrainConfig(dispatch_steps=30, dispatch_seconds=None)).length == 30
