"""Numbers of the page: the ticks of an axis have as many digits as they need."""

import json
import pathlib
import subprocess

import pytest
from test_report_page import browser

__all__ = ["browser"]  # a fixture
WEB = pathlib.Path(__file__).resolve().parents[2] / "tools" / "web"

SCRIPT = """
import {buildSync} from 'esbuild';
const {outputFiles} = buildSync({entryPoints: ['src/drawing/units.ts'], bundle: true, format: 'esm', write: false});
const units = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
console.log(JSON.stringify(BYTES.map((bytes) => [units.formatTick(bytes), units.formatBytes(bytes)])));
"""
GIB = 2**30


def units(numbers):
    """For each number of bytes its text as a tick, and its text elsewhere."""
    done = subprocess.run(["node", "--input-type=module"], input=SCRIPT.replace("BYTES", json.dumps(numbers)), cwd=WEB, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.usefixtures("browser")
def test_ticks_have_the_digits_they_need():
    expected = {0: "0 B", 512: "512 B", GIB // 2: "512.0 MiB", GIB: "1.0 GiB", GIB * 5 // 4: "1.25 GiB", GIB * 9 // 8: "1.125 GiB", 3 * GIB // 2: "1.5 GiB"}
    assert [tick for tick, _ in units(list(expected))] == list(expected.values())


@pytest.mark.usefixtures("browser")
def test_halves_are_rounded_as_the_program_rounds_them():
    """`memoir show` prints 10.25 GiB as 10.2 GiB and 10.75 GiB as 10.8 GiB; toFixed() alone would print 10.3 and 10.8."""
    expected = {GIB * 41 // 4: "10.2 GiB", GIB * 43 // 4: "10.8 GiB", GIB * 9 // 8: "1.12 GiB", GIB * 11 // 8: "1.38 GiB", GIB + 1: "1.00 GiB"}
    assert [texts[1] for texts in units(list(expected))] == list(expected.values())


@pytest.mark.usefixtures("browser")
def test_a_second_decimal_tells_gibibytes_apart():
    expected = {158 * GIB // 100: "1.58 GiB", 162 * GIB // 100: "1.62 GiB", 9995 * GIB // 1000 + 1: "10.0 GiB", 79 * GIB: "79.0 GiB", 5 * 2**20: "5.0 MiB"}
    assert [texts[1] for texts in units(list(expected))] == list(expected.values())
