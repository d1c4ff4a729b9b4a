"""memoir fit, with programs that write a device's report as the simulated device would: no torch is needed.

tests/simulated/test_fit.py has the real thing.
"""

import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1 << 20

# fake.py NEED: allocates so many MiB beside a context of 500, and fails where the card has less; `--code N` ends with it first.
FAKE = '''
import os, struct, sys, time
arguments = sys.argv[1:]
if "--sleep" in arguments:
    open(os.environ["STARTED"], "a").write("x")
    time.sleep(60)
if "--code" in arguments:
    print("a line of its own"); print("the last line", file=sys.stderr)
    sys.exit(int(arguments[arguments.index("--code") + 1]))
need, context = int(arguments[0]) << 20, 500 << 20
if "--routes" in arguments:     # a shape that is not known: up to four times as much
    need *= 4 if os.environ.get("MEMOIR_SIM_UNKNOWN") == "most" else 1
    with open(os.environ["MEMOIR_SIM_COUNTS"], "a") as counts:
        counts.write("1\\tlaunch\\t5\\tkernel\\n1\\tunknown\\t2\\taten::nonzero\\n1\\tunknown\\t1\\taten::masked_select\\n")
CARDS = {"t4": 14909, "l4": 22478, "h100": 81080}
total = int(os.environ.get("MEMOIR_SIM_MEMORY", CARDS.get(os.environ["MEMOIR_SIM_GPU"], 50000) << 20))
fits = context + need <= total
used = context + (need if fits else 0)
words = [total, context, used, used, used - context, 0, 0, 0, 0 if fits else 3, 0 if fits else need, used]
with open(f"{os.environ['MEMOIR_SIM_REPORT']}/{os.getpid()}-1.gpu", "wb") as report:
    report.write(b"MEMOIRS1" + struct.pack("<3Q", os.getpid(), len(words), 1) + struct.pack(f"<{len(words)}Q", *words))
print("out of", os.environ["MEMOIR_SIM_GPU"])
sys.exit(0 if fits or "--handles" in arguments else 7)
'''


@pytest.fixture(scope="session")
def fit_tree(fake_tree, tmp_path_factory):
    root = tmp_path_factory.mktemp("fit") / "tree"
    shutil.copytree(fake_tree, root)
    shutil.copy(root / "lib/memoir/libmemoir_interpose.so", root / "lib/memoir/libmemoir_simcuda.so")
    shutil.copy(ROOT / "interpose/simcuda/profiles.txt", root / "lib/memoir/simulated_gpus.txt")
    return root


@pytest.fixture
def fit(memoir, fit_tree, tmp_path):
    (tmp_path / "fake.py").write_text(FAKE)
    (tmp_path / "tmp").mkdir()

    def fit(*arguments):
        done = memoir("fit", *arguments, program=fit_tree / "bin/memoir", TMPDIR=tmp_path / "tmp")
        assert not list((tmp_path / "tmp").iterdir()), "left something behind"
        return done

    return fit


def fake(*arguments):
    return ["--", sys.executable, "fake.py", *arguments]


def one_paragraph(text):
    return " ".join(text.replace("memoir: ", "").split())


# One card


def test_fits(fit):
    done = fit("--gpu", "t4", *fake("8000"))
    assert done.returncode == 0 and done.stdout == "out of t4\n"
    text = one_paragraph(done.stderr)
    assert "fake.py on a SIMULATED Tesla T4 (t4): fits: takes 8.3 GiB of 14.6 GiB, 6.3 GiB to spare" in text
    assert "context 500.0 MiB" in text and "From tables, as estimates" in text


def test_does_not_fit(fit):
    done = fit("--gpu", "t4", *fake("20000"))
    assert done.returncode == 7 and done.stdout == "out of t4\n"
    text = one_paragraph(done.stderr)
    assert "does not fit: takes 20.0 GiB, has 14.6 GiB" in text and "asking for 19.5 GiB with 500.0 MiB in use" in text
    assert "in a run without the card's limit" in text


def test_memory_in_place_of_the_cards(fit):
    assert "fits, barely: takes 20.0 GiB of 20.5 GiB" in fit("--gpu", "t4", "--mem", "20992MiB", *fake("20000")).stderr


def test_what_handles_the_error_ends_well(fit):
    done = fit("--gpu", "t4", *fake("20000", "--handles"))
    assert done.returncode == 0 and "ran out, and went on" in done.stderr


def test_more_than_any_card_has(fit):
    assert "takes more than 1.0 TiB" in one_paragraph(fit("--gpu", "t4", *fake(2 << 20)).stderr)


def test_quiet_is_one_line(fit):
    assert len(fit("-q", "--gpu", "t4", *fake("8000")).stderr.splitlines()) == 1


def test_json_is_alone_on_standard_output(fit):
    done = fit("--json", "--gpu", "t4", *fake("20000"))
    report = json.loads(done.stdout)
    assert done.returncode == 7 and "out of t4" in done.stderr
    card, = report["cards"]
    assert report["view"] == "fit" and report["simulated"] is True and report["command"][1:] == ["fake.py", "20000"]
    assert (card["card"], card["verdict"], card["memory_bytes"]) == ("t4", "does_not_fit", 14909 * MIB)
    assert card["need"] == {"low_bytes": 20500 * MIB, "high_bytes": 20500 * MIB}
    assert card["headroom_bytes"] == (14909 - 20500) * MIB
    limited, unlimited = card["runs"]
    assert (limited["limited_to_card"], limited["exit_code"], unlimited["limited_to_card"], unlimited["exit_code"]) == (True, 7, False, 0)
    peak = unlimited["processes"][0]["devices"][0]
    assert sum(peak["peak"].values()) == peak["peak_bytes"] == 20500 * MIB


@pytest.mark.parametrize("need, verdict, code, low, high", [
    (3000, "fits", 0, 3500, 12500), (5000, "depends", 0, 5500, 20500), (20000, "does_not_fit", 7, 20500, 80500),
])
def test_shapes_that_are_not_known_give_an_interval(fit, need, verdict, code, low, high):
    done = fit("--json", "--gpu", "t4", *fake(need, "--routes"))
    card, = json.loads(done.stdout)["cards"]
    assert (done.returncode, card["verdict"]) == (code, verdict)
    assert card["need"] == {"low_bytes": low * MIB, "high_bytes": high * MIB}
    assert card["unknowns"] == ["values that were not computed, in aten::masked_select, aten::nonzero"]


def test_a_table_with_intervals(fit):
    assert "t4 14.6 GiB 5.4 GiB to 20.0 GiB -5.5 GiB depends" in one_paragraph(fit("--gpu", "all", *fake("5000", "--routes")).stdout)


# Several cards


def test_table(fit):
    done = fit("--gpu", "all", *fake("20000"))
    assert done.returncode == 0 and done.stderr == ""
    rows = {line.split()[0]: " ".join(line.split()) for line in done.stdout.splitlines() if line.startswith("  ")}
    assert list(rows)[:3] == ["card", "t4", "l4"]      # by memory
    assert rows["t4"].startswith("t4 14.6 GiB 20.0 GiB -5.5 GiB does not fit")
    assert rows["h100"] == "h100 79.2 GiB 20.0 GiB +59.2 GiB fits"
    assert "SIMULATED" in done.stdout


def test_output_is_kept_where_asked(fit, tmp_path):
    assert fit("--gpu", "all", "-o", "kept", *fake("8000")).returncode == 0
    assert (tmp_path / "kept/l4/output.txt").read_text() == "out of l4\n"


def test_failing_on_every_card_for_another_reason(fit):
    done = fit("--gpu", "all", *fake("--code", "5"))
    assert done.returncode == 5
    assert done.stderr == "memoir: h100: the last line\n"
    assert "t4: exit code 5, before it used the GPU: no answer" in done.stdout


def test_one_rank_of_a_world(fit):
    done = fit("--rank", "9", "--world", "16", "--", "sh", "-c", "echo $RANK $WORLD_SIZE $LOCAL_RANK")
    assert done.stdout == "9 16 1\n"


def test_own_cards(fit, tmp_path):
    own = (ROOT / "interpose/simcuda/profiles.txt").read_text().split("[t4]")[1].split("[rtx4090]")[0]
    (tmp_path / "mine.txt").write_text("[mine]" + own.replace("Tesla T4", "Mine").replace("14909MiB", "30GiB"))
    assert "SIMULATED Mine (mine): fits" in fit("-q", "--profiles", "mine.txt", "--gpu", "mine", *fake("8000")).stderr


# A value that varies


def pixels(png):
    """Rows of (red, green, blue)."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        data += body if kind == b"IDAT" else b""
        at += 12 + size
    raw, rows, before = zlib.decompress(data), [], bytes(width * 3)
    for y in range(height):
        method, line = raw[y * (width * 3 + 1)], bytearray(raw[y * (width * 3 + 1) + 1:(y + 1) * (width * 3 + 1)])
        for x in range(width * 3):
            left, up, corner = (line[x - 3] if x > 2 else 0), before[x], (before[x - 3] if x > 2 else 0)
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(guess - value))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, paeth)[method]) % 256
        rows.append([tuple(line[x:x + 3]) for x in range(0, width * 3, 3)])
        before = bytes(line)
    return rows


def test_largest_value(fit, tmp_path):
    done = fit("--gpu", "t4", "--vary", "NEED=1000:30000:1000", "--png", "curve.png", *fake("{NEED}"))
    assert done.returncode == 0
    assert "the largest NEED that fits is 14,000; 15,000 does not." in one_paragraph(done.stdout)
    assert "30,000 29.8 GiB" in one_paragraph(done.stdout)
    colors = {color for row in pixels((tmp_path / "curve.png").read_bytes()) for color in row}
    assert {(31, 119, 180), (214, 39, 40), (44, 160, 44)} <= colors      # a point that fits, one that does not, the card


def test_largest_value_as_json(fit):
    report = json.loads(fit("--json", "--gpu", "t4", "--vary", "NEED=12000:15000:500", *fake("{NEED}")).stdout)
    assert (report["view"], report["largest_that_fits"], report["next_that_does_not"]) == ("fit_vary", 14000, 14500)
    assert [point["value"] for point in report["points"]] == list(range(12000, 15001, 500))
    assert report["smaller_that_do_not"] == []


def test_no_value_fits(fit):
    done = fit("-q", "--gpu", "t4", "--vary", "NEED=20000:30000", *fake("{NEED}"))
    assert done.returncode == 0 and done.stdout == "no NEED that was tried fits, the smallest being 20,000\n"


def test_no_value_gives_an_answer(fit):
    done = fit("-q", "--vary", "CODE=3:4", *fake("--code", "{CODE}"))
    assert done.returncode == 3 and done.stdout == "no CODE gave an answer\n"


def test_png_that_cannot_be_written(fit):
    done = fit("--gpu", "t4", "--vary", "N=1:2", "--png", "no/such/folder.png", *fake("{N}"))
    assert "memoir: cannot write no/such/folder.png" in done.stderr


# Bad input


@pytest.mark.parametrize("arguments, words", [
    (["--gpu", "h10", "--", "true"], "--gpu: unknown card h10; did you mean h100?; known are h100"),
    (["--mem", "lots", "--", "true"], "--mem lots: expected a size from 1GiB to 4TiB"),
    (["--mem", "1MiB", "--", "true"], "--mem 1MiB: expected a size"),
    ([], "no command to run: memoir fit [OPTIONS] -- COMMAND..."),
    (["--vary", "B=5:1", "--", "x", "{B}"], "--vary B=5:1: expected NAME=A:B"),
    (["--vary", "B=1:2:0", "--", "x", "{B}"], "--vary B=1:2:0: expected NAME=A:B"),
    (["--vary", "1:5", "--", "x"], "--vary 1:5: expected NAME=A:B"),
    (["--vary", "B=1:5", "--", "true"], "COMMAND holds no {B}"),
    (["--vary", "B=1:5", "--gpu", "all", "--", "x", "{B}"], "name it with --gpu"),
    (["--png", "x.png", "--", "true"], "--png draws a curve: add --vary"),
    (["--devices", "0", "--", "true"], "--devices: expected a number from 1 to 64"),
    (["--rank", "3", "--", "true"], "--rank=3: of which world? add --world N"),
    (["--rank", "8", "--world", "8", "--", "true"], "--rank=8: a world of 8 has the ranks 0 to 7"),
    (["--world", "5000", "--", "true"], "--world=5000: expected a number of ranks from 1 to 4096"),
    (["--profiles", "/no/such", "--", "true"], "--profiles: cannot read /no/such"),
    (["--gpus", "all", "--", "true"], "unknown option --gpus; did you mean --gpu?"),
])
def test_words_that_mean_nothing(fit, one_line, arguments, words):
    done = fit(*arguments)
    assert done.returncode == 2 and done.stdout == "" and words in one_line(done)


@pytest.mark.parametrize("options", [[], ["--gpu", "all"], ["--vary", "N=1:3"]])
def test_command_that_cannot_be_started(fit, one_line, options):
    done = fit(*options, "--", "no-such-command", "{N}")
    assert done.returncode == 127 and "cannot start no-such-command: no such command" in one_line(done)


def test_installation_without_the_device(memoir, one_line):
    done = memoir("fit", "--", "true")
    assert done.returncode == 1 and "this installation lacks" in one_line(done)


def test_program_that_leaves_the_gpu_alone(fit):
    done = fit("--", "true")
    assert done.returncode == 0 and "nothing was allocated on the GPU: does the script choose cuda?" in done.stderr


def test_program_that_fails_first(fit):
    done = fit("--", sys.executable, "no-such-script.py")
    assert done.returncode == 2 and "failed: exit code 2, before it used the GPU: no answer" in done.stderr


def test_torch_without_cuda(fit, tmp_path, monkeypatch):
    torch = tmp_path / "site/torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("raise SystemExit(1)")
    (torch / "version.py").write_text("__version__ = '2.11.0+cpu'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    done = fit("--", sys.executable, "-c", "print('on the CPU')")
    assert done.returncode == 0 and "torch 2.11.0+cpu" in done.stderr and "is built without CUDA" in done.stderr


def test_killed_program(fit):
    done = fit("--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == 137 and "signal 9 ended it" in done.stderr


@pytest.mark.parametrize("options", [["--gpu", "all"], ["--vary", "N=1:9"]])
def test_interrupt_ends_what_runs(fit_tree, tmp_path, options):
    (tmp_path / "fake.py").write_text(FAKE)
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "STARTED": str(tmp_path / "started")}
    command = [fit_tree / "bin/memoir", "fit", *options, *fake("--sleep", "{N}")]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "memoir: interrupted: no answer\n")
    assert not list((tmp_path / "tmp").iterdir())


def test_reports_that_are_none_are_left_out(fit):
    program = ("import os; folder = os.environ['MEMOIR_SIM_REPORT']\n"
               "for name, data in (('a.gpu', b''), ('b.gpu', b'MEMOIRS1' + b'\\xff' * 64), ('c.gpu', b'x' * 5000)):\n"
               "    open(f'{folder}/{name}', 'wb').write(data)")
    done = fit("--", sys.executable, "-c", program)
    assert done.returncode == 0 and "nothing was allocated on the GPU" in done.stderr


def test_help_has_two_examples(fit):
    done = fit("--help")
    assert done.returncode == 0 and len([line for line in done.stdout.splitlines() if line.startswith("  memoir fit ")]) == 2
