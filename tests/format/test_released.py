"""Captures of every form that was ever written stay readable, with the totals that were stored with them."""

import json
import subprocess

import pytest

from keep_released import RELEASED, totals
from rewritten import chunks_of, payload_of
from test_read_capture import assert_same

NAMES = sorted(path.name for path in RELEASED.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def show_by(tree):
    def show_by(capture, *options):
        done = subprocess.run([tree / "bin" / "memoir", "show", "--json", *options, capture], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return show_by


def has(found, wanted, where=""):
    """A later Memoir may say more, and never less or anything else."""
    if isinstance(wanted, dict):
        assert isinstance(found, dict), where
        for key, value in wanted.items():
            assert key in found, f"{where}.{key} is gone"
            has(found[key], value, f"{where}.{key}")
    elif isinstance(wanted, list):
        assert isinstance(found, list) and len(found) == len(wanted), where
        for number, (mine, value) in enumerate(zip(found, wanted)):
            has(mine, value, f"{where}[{number}]")
    else:
        assert found == wanted, where


@pytest.mark.parametrize("name", NAMES)
def test_its_totals(name, show_by):
    has(totals(show_by, RELEASED / name), json.loads((RELEASED / f"{name}.json").read_text()))


@pytest.mark.parametrize("name", NAMES)
def test_the_example_reads_it(name, read, show):
    assert_same(read(RELEASED / name), show(RELEASED / name))


def kinds_of(schema, part):
    return {kind for chunk in chunks_of(schema, part) if chunk.payload for run in payload_of(schema, chunk).runs for kind in run.kind}


def test_what_is_kept(schema):
    """One small capture of each form; each has the form that its name states."""
    assert len(NAMES) >= 4 and sum(path.stat().st_size for path in RELEASED.rglob("*") if path.is_file()) < 200_000
    kinds = {name: {kind for part in (RELEASED / name).glob("*.memoir") for kind in kinds_of(schema, part)} for name in NAMES}
    assert all((schema.GRADIENT_OF in kinds[name]) == ("early" not in name) and schema.MODULE_HOLDS in kinds[name] for name in NAMES if "cuda" in name)
    first = {name: schema.Part.FromString(sorted((RELEASED / name).glob("*.memoir"))[0].read_bytes()).chunk[0] for name in NAMES}
    for name, chunk in first.items():
        assert chunk.process.format_version == 1
        assert (chunk.recording == 0) == (chunk.header_checksum == 0) == (chunk.process.run == "") == ("early" in name), name


def test_it_lies_beside_its_totals():
    assert {path.stem for path in RELEASED.glob("*.json")} == set(NAMES)


def test_the_check_can_fail():
    for found, wanted in (({}, {"a": 1}), ({"a": 2}, {"a": 1}), ({"a": [1]}, {"a": [1, 2]}), ({"a": None}, {"a": [1]})):
        with pytest.raises(AssertionError):
            has(found, wanted)
