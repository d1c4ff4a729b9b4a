"""`memoir diff` as a program: its options, what it says of captures that do not go together, and bad input."""

import json
import pickle

import pytest


def lines(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_help_has_examples(memoir):
    done = memoir("diff", "--help")
    assert done.returncode == 0 and "memoir diff before after" in done.stdout and "--map" in done.stdout
    assert "diff       two captures" in memoir("--help").stdout


def test_the_first_line_names_the_main_cause(memoir, samples):
    first, *rest = lines(memoir("diff", samples / "training", samples / "modules", COLUMNS=200))
    assert first == "+7.0 MiB at the peak of cpu: Torch-Compiled Region: 0/0 in Critic (+3.0 MiB, temporary, new)"
    assert any(line.startswith("more: memoir diff --by ") for line in rest)


def test_it_fits_80_columns(memoir, samples):
    for a, b in [("training", "modules"), ("ranks", "job"), ("cuda", "driver"), ("odd_names", "many")]:
        text = lines(memoir("diff", samples / a, samples / b))
        # Paths and commands are for copying, and losses have separate lines, as in each view.
        text = [line for line in text if not line.startswith(("more: ", "! rank "))]
        assert max(map(len, text)) <= 80, [line for line in text if len(line) > 80]


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "no capture given"),
    (["training"], "one capture given"),
    (["training", "training"], "training; give two captures"),
    (["training", "./training/../training"], "A and B are both"),
    (["training", "trained", "--by", "modul"], "did you mean"),
    (["training", "trained", "--map", "layers"], "expected OLD=NEW"),
    (["training", "trained", "--at", "noon"], "--at noon: expected"),
    (["training", "trained", "--run", "1:x"], "--run 1:x: expected two numbers"),
    (["training", "trained", "--steps", "3:1"], "--steps 3:1: expected"),
])
def test_wrong_usage(memoir, samples, arguments, said):
    done = memoir("diff", *[samples / word if word.startswith("trained") else f"{samples}/{word}" if "training" in word else word for word in arguments])
    assert done.returncode == 2 and said in done.stderr and not done.stdout
    assert len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize(("a", "b", "said"), [
    ("training", "absent", "absent"),
    ("empty", "training", "empty: no event was recorded, so there is nothing to compare"),
    ("training", "empty", "empty: no event was recorded, so there is nothing to compare"),
])
def test_what_cannot_be_compared(memoir, samples, a, b, said):
    done = memoir("diff", samples / a, samples / b)
    assert done.returncode == 1 and said in done.stderr and not done.stdout
    assert len(done.stderr.splitlines()) == 1


def test_a_damaged_file_and_one_that_is_none(memoir, samples, tmp_path):
    (tmp_path / "text.json").write_text("no capture\n")
    done = memoir("diff", samples / "training", tmp_path / "text.json")
    assert done.returncode == 1 and "text.json" in done.stderr


def test_dropped_events_are_said_first(memoir, samples):
    text = lines(memoir("diff", samples / "training", samples / "losses"))
    (said,) = [i for i, line in enumerate(text) if line.startswith("! events are missing in B")]
    assert said < text.index("") and "Of B:" in text
    text = lines(memoir("diff", samples / "losses", samples / "training"))
    assert any(line.startswith("! events are missing in A") for line in text) and "Of A:" in text


def test_a_gpu_that_one_alone_has(memoir, samples):
    first = lines(memoir("diff", samples / "training", samples / "cuda", COLUMNS=200))[0]
    assert first.startswith("A used no GPU, B had 18.0 MiB at the peak of cuda:0; -6.0 MiB at the peak of cpu: ")
    done = memoir("diff", "--device", "cuda:0", samples / "training", samples / "cuda")
    assert done.returncode == 1 and "cuda:0" in done.stderr


def test_other_versions_and_cards_are_said_first(memoir, samples):
    text = lines(memoir("diff", samples / "cuda", samples / "driver", COLUMNS=200))
    before = text[: text.index("")]
    assert "! torch: 2.11.0+cu130 in A, 2.11.0+cpu in B" in before
    assert "! GPU: a simulated NVIDIA L4 (l4) with 64.0 MiB in A, a real one in B" in before
    assert "! model: Net in A, Model in B" in before


def test_ranks_that_one_alone_has(memoir, samples):
    text = lines(memoir("diff", samples / "ranks", samples / "job", COLUMNS=200))
    assert any(line.startswith("! only in A: cuda:0 of rank 1 ") for line in text)
    assert any(line.startswith("! only in B: cpu of ranks ") for line in text)
    result = json.loads(memoir("diff", "--json", "--rank", "1", samples / "ranks", samples / "job").stdout)
    assert {device["a"]["rank"] for device in result["devices"] if device["a"] and device["b"]} == {1}


def test_json_is_documented_and_adds_up(memoir, samples):
    result = json.loads(memoir("diff", "--json", "--by", "category,module", samples / "modules", samples / "training").stdout)
    (device,) = result["devices"]
    assert sum(row["difference_bytes"] for row in device["rows"]) == device["peak_difference_bytes"] == device["difference_bytes"] == -7341056
    assert {row["state"] for row in device["rows"]} <= {"new", "gone", "grown", "shrunk", "same"}
    assert result["headline"].startswith("-7.0 MiB at the peak of cpu: ")
    assert result["a"]["capture"].endswith("modules") and result["b"]["capture"].endswith("training")


def test_maps_rename_and_those_of_nothing_are_said(memoir, samples):
    done = memoir("diff", "--by", "module", "--map", "layers=blocks", "--map", "absent=x", samples / "modules", samples / "cuda_lost")
    assert "! --map absent=x: nothing in A is called that" in lines(done)
    assert "blocks.0.mlp.fc1" in done.stdout and "layers.0.mlp.fc1" not in done.stdout


def test_a_snapshot_pickle_against_a_capture(memoir, samples, tmp_path):
    frame = {"filename": "/src/train.py", "line": 31, "name": "main"}
    block = {"address": 0x7000000, "size": 4 << 20, "requested_size": 4 << 20, "state": "active_allocated", "frames": [frame]}
    rest = {"address": 0x7400000, "size": 16 << 20, "requested_size": 0, "state": "inactive", "frames": []}
    segment = {"address": 0x7000000, "total_size": 20 << 20, "allocated_size": 4 << 20, "active_size": 4 << 20, "requested_size": 4 << 20, "device": 0,
               "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "blocks": [block, rest], "frames": []}
    (tmp_path / "snapshot.pickle").write_bytes(pickle.dumps({"segments": [segment], "device_traces": [[]]}))
    done = memoir("diff", samples / "cuda", tmp_path / "snapshot.pickle", COLUMNS=200)
    text = lines(done)
    assert text[0].startswith("-14.0 MiB at the peak of cuda:0: ")
    assert "! file: a recording in A, a memory snapshot of PyTorch in B" in text
