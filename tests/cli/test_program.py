"""The memoir program as people run it: exit codes, signals, streams, the environment it sets, and what it says about mistakes.

It runs from a tree made here, whose recorder is a stand-in: nothing needs torch.
"""

import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = pathlib.Path(os.environ.get("MEMOIR_PROGRAM", "memoir"))
WRITE_SAMPLES = os.environ.get("MEMOIR_WRITE_SAMPLES")

# Leaves a capture as a recorder would, from the samples.
FAKE_RECORDER = "import os, shutil; shutil.copytree(os.environ['SAMPLE'], os.environ['MEMOIR_OUTPUT'], dirs_exist_ok=True)"


@pytest.fixture(scope="session")
def fake_tree(tmp_path_factory):
    """An installed tree whose interposer is an empty library."""
    root = tmp_path_factory.mktemp("tree")
    for folder in ("bin", "lib/memoir/python/memoir", "libexec/memoir"):
        (root / folder).mkdir(parents=True)
    shutil.copy2(PROGRAM, root / "bin" / "memoir")
    (root / "lib/memoir/python/memoir/__init__.py").write_text("")
    empty = root / "empty.c"
    empty.write_text("int memoir_stand_in;\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", root / "lib/memoir/libmemoir_interpose.so", empty], check=True)
    (root / "lib/memoir/libmemoir_tracker-torch9.9.so").write_bytes(b"")
    drain = root / "libexec/memoir/memoir-drain"
    drain.write_text("#!/bin/sh\necho \"$1\" >> \"$(dirname \"$1\")/drained\"\nrm \"$1\"\n")
    drain.chmod(0o755)
    return root


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([WRITE_SAMPLES, folder], check=True)
    return folder


@pytest.fixture
def memoir(fake_tree, tmp_path):
    def memoir(*arguments, program=fake_tree / "bin" / "memoir", **variables):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MEMOIR_")}
        environment.update({key: str(value) for key, value in variables.items()})
        return subprocess.run([str(program), *map(str, arguments)], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    return memoir


def one_line(done):
    """The single line of an error, without the pointer to the help."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("memoir: see ")]
    assert len(lines) == 1, done.stderr
    return lines[0]


# Running a command


@pytest.mark.parametrize("code", [0, 1, 3, 42, 255])
def test_exit_code_passes_through(memoir, code):
    assert memoir("run", "-q", "--", sys.executable, "-c", f"raise SystemExit({code})").returncode == code


def test_death_by_signal_is_128_plus_its_number(memoir):
    killed = memoir("run", "-q", "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert killed.returncode == 128 + signal.SIGKILL


def test_streams_pass_through(fake_tree, tmp_path):
    program = "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data[::-1]); sys.stderr.write('to stderr\\n')"
    done = subprocess.run([fake_tree / "bin/memoir", "run", "-q", "--", sys.executable, "-c", program], cwd=tmp_path,
                          input=b"\x00\xff line\n", capture_output=True)
    assert done.stdout == b"\x00\xff line\n"[::-1]
    assert b"to stderr\n" in done.stderr


def test_environment_of_the_command(memoir, fake_tree, tmp_path):
    show = "import json, os; print(json.dumps(dict(os.environ)))"
    done = memoir("run", "-q", "-o", "out", "--max-size", "1GiB", "--rank=3", "--", sys.executable, "-c", show,
                  PYTHONPATH="/keep", OTHER="stays")
    seen = json.loads(done.stdout)
    assert seen["LD_PRELOAD"] == str(fake_tree / "lib/memoir/libmemoir_interpose.so")
    assert seen["PYTHONPATH"] == f"{fake_tree / 'lib/memoir/python'}:/keep"
    assert seen["MEMOIR_ENABLE"] == "1"
    assert seen["MEMOIR_OUTPUT"] == str(tmp_path / "out")
    assert seen["MEMOIR_MAX_SIZE"] == str(1 << 30)
    assert seen["MEMOIR_RANK"] == "3"
    assert seen["OTHER"] == "stays"


def test_existing_preload_is_kept_behind(memoir, fake_tree, tmp_path):
    other = tmp_path / "other.so"
    shutil.copy(fake_tree / "lib/memoir/libmemoir_interpose.so", other)
    done = memoir("run", "-q", "--", sys.executable, "-c", "import os; print(os.environ['LD_PRELOAD'])", LD_PRELOAD=other)
    assert done.stdout.strip() == f"{fake_tree / 'lib/memoir/libmemoir_interpose.so'}:{other}"


@pytest.mark.parametrize("name", ["with space", "with:colon"])
def test_tree_that_cannot_be_preloaded(memoir, fake_tree, tmp_path, name):
    shutil.copytree(fake_tree, tmp_path / name)
    done = memoir("run", "-q", "--", sys.executable, "-c", "import os; print(os.environ.get('LD_PRELOAD'))",
                  program=tmp_path / name / "bin" / "memoir")
    assert done.stdout == "None\n"
    assert "holds a space or colon" in done.stderr and "going on without preload" in done.stderr


def test_default_folder_is_named_for_the_time(memoir, samples, tmp_path):
    memoir("run", "-q", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / "training")
    folder, = tmp_path.glob("memoir-*")
    assert len(folder.name) == len("memoir-20260102-030405") and list(folder.glob("*.memoir"))


@pytest.mark.parametrize("arguments", [["--"], []], ids=["dashes", "dashes forgotten"])
def test_command_keeps_its_own_options(memoir, arguments):
    done = memoir("run", "-q", *arguments, sys.executable, "-c", "import sys; print(sys.argv[1:])", "-q", "--", "-o", "x")
    assert done.stdout == "['-q', '--', '-o', 'x']\n"


# Signals


def started(fake_tree, tmp_path, program, **options):
    running = subprocess.Popen([fake_tree / "bin/memoir", "run", "-q", "--", sys.executable, "-uc", program], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    assert running.stdout.readline() == "ready\n"
    return running


# Counts a signal until it is told to end.
COUNTER = """
import signal, sys, time
count = 0
def note(number, frame):
    global count
    count += 1
signal.signal({number}, note)
signal.signal(signal.SIGUSR2, lambda *_: (print(count), sys.exit(7)))
print("ready")
while True: time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1])
def test_signals_are_passed_on(fake_tree, tmp_path, number):
    running = started(fake_tree, tmp_path, COUNTER.format(number=int(number)))
    running.send_signal(number)
    time.sleep(0.3)   # lets the first be handled; were it slower, the two would still both be handled before the exit
    running.send_signal(signal.SIGUSR2)
    out, _ = running.communicate(timeout=60)
    assert out == "1\n" and running.returncode == 7


def test_untouched_program_dies_of_a_passed_signal(fake_tree, tmp_path):
    running = started(fake_tree, tmp_path, "import time; print('ready'); time.sleep(60)")
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM


def test_ignored_signals_stay_ignored(fake_tree, tmp_path):
    program = "import signal; print('ready'); input(); print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    running = started(fake_tree, tmp_path, program, stdin=subprocess.PIPE,
                      preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    running.send_signal(signal.SIGHUP)
    out, _ = running.communicate("\n", timeout=60)
    assert out == "True\n" and running.returncode == 0


def test_interrupt_from_the_terminal_arrives_once(fake_tree, tmp_path):
    program = COUNTER.format(number=int(signal.SIGINT))
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execv(fake_tree / "bin/memoir", ["memoir", "run", "-q", "--", sys.executable, "-uc", program])
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 100)
    os.write(terminal, b"\x03")
    time.sleep(0.3)
    os.kill(child, signal.SIGUSR2)
    _, status = os.waitpid(child, 0)
    seen = os.read(terminal, 1000)
    assert os.waitstatus_to_exitcode(status) == 7
    assert seen.replace(b"^C", b"").startswith(b"1\r\n")   # the terminal may echo the key


# After the command


def test_summary_at_the_end(memoir, samples):
    done = memoir("run", "-o", "out", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / "training")
    assert done.returncode == 0 and done.stdout == ""
    lines = done.stderr.splitlines()
    assert all(line.startswith("memoir:") for line in lines) and len(lines) <= 25
    assert any("peak 10.0 MiB" in line for line in lines)
    assert lines[-1] == "memoir: more: memoir out"


def test_quiet_says_nothing(memoir, samples):
    done = memoir("run", "-q", "-o", "out", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / "training")
    assert (done.stdout, done.stderr) == ("", "")


def test_second_recording_into_a_folder_is_said(memoir, samples):
    for _ in range(2):
        done = memoir("run", "-o", "out", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / "training")
    assert "already holds a capture" in done.stderr


def test_nothing_recorded_is_explained(memoir, tmp_path):
    done = memoir("run", "-o", "out", "--", "sh", "-c", "exit 5")
    assert done.returncode == 5
    assert one_line(done) == "memoir: nothing was recorded: sh never imported torch (memoir doctor checks the rest)"
    assert not (tmp_path / "out").exists()


def test_nothing_recorded_because_python_ignores_the_environment(memoir):
    assert "-I and -E ignore PYTHONPATH" in one_line(memoir("run", "--", sys.executable, "-I", "-c", ""))


def test_nothing_recorded_because_autoload_is_off(memoir):
    done = memoir("run", "--", sys.executable, "-c", "", TORCH_DEVICE_BACKEND_AUTOLOAD=0)
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in one_line(done)


def test_nothing_recorded_because_no_tracker_fits(memoir, tmp_path):
    torch = tmp_path / "site" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("raise SystemExit('imported')")
    (torch / "version.py").write_text("__version__ = '2.3.4+cpu'\n")
    done = memoir("run", "--", sys.executable, "-c", "", PYTHONPATH=tmp_path / "site")
    assert "no tracker for torch 2.3.4+cpu (this Memoir has: 9.9); install a Memoir built for it" in one_line(done)


# Mistakes


def test_command_not_found(memoir, tmp_path):
    done = memoir("run", "-o", "out", "--", "no-such-program")
    assert done.returncode == 127 and "cannot start no-such-program: no such command" in one_line(done)
    assert not (tmp_path / "out").exists()


def test_command_not_executable(memoir, tmp_path):
    (tmp_path / "script").write_text("")
    done = memoir("run", "--", "./script")
    assert done.returncode == 126 and "Permission denied" in one_line(done)


def test_no_command(memoir):
    for arguments in (["run"], ["run", "--"], ["run", "-o", "x", "--"]):
        done = memoir(*arguments)
        assert done.returncode == 2 and "no command to run" in one_line(done)


@pytest.mark.parametrize("arguments, nearest", [(["run", "--ouput", "x", "--", "true"], "--output"),
                                                (["show", "--jsn", "x"], "--json"),
                                                (["--topp", "3", "x"], "--top"),
                                                (["doctor", "--pyton", "x"], "--python")])
def test_unknown_option_names_the_nearest(memoir, arguments, nearest):
    done = memoir(*arguments)
    assert done.returncode == 2
    assert f"unknown option {next(a for a in arguments if a.startswith('--'))}; did you mean {nearest}?" in one_line(done)


def test_bad_value_names_the_option(memoir):
    done = memoir("run", "--max-size", "lots", "--", "true")
    assert done.returncode == 2 and "--max-size=lots: expected a size" in one_line(done)
    done = memoir("run", "--", "true", MEMOIR_RING_SIZE="huge")
    assert done.returncode == 2 and "MEMOIR_RING_SIZE=huge" in one_line(done)


def test_unknown_variable_is_a_warning(memoir):
    done = memoir("run", "-q", "--", sys.executable, "-c", "print('ran')", MEMOIR_OUTPT="x")
    assert done.returncode == 0 and done.stdout == "ran\n"
    assert "memoir: unknown variable MEMOIR_OUTPT is ignored; did you mean MEMOIR_OUTPUT?" in done.stderr


def test_unwritable_folder_runs_the_command_unrecorded(memoir, tmp_path):
    (tmp_path / "file").write_text("")
    show = "import os; print(os.environ.get('MEMOIR_ENABLE')); raise SystemExit(9)"
    done = memoir("run", "-o", "file/out", "--", sys.executable, "-c", show)
    assert done.returncode == 9 and done.stdout == "None\n"
    assert "cannot record into" in one_line(done) and "choose a folder with -o DIR" in one_line(done)


def test_unknown_verb(memoir):
    done = memoir("shwo", "x")
    assert done.returncode == 2 and "did you mean show?" in one_line(done)
    done = memoir("python", "train.py")
    assert done.returncode == 2 and "to record a program: memoir run -- python train.py" in one_line(done)


def test_not_a_capture(memoir, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.memoir").write_text("this is no capture\n")
    for path in ("empty", "text.memoir", "./missing"):
        done = memoir("show", path)
        assert done.returncode == 1 and done.stdout == "", path
        assert path.lstrip("./") in one_line(done)


def test_newer_capture(memoir, samples, tmp_path):
    part, = (samples / "training").glob("*.memoir")
    changed = part.read_bytes()
    # ProcessInfo.format_version, the first field of the first chunk's process: 08 01 becomes 08 63.
    at = changed.index(b"\x12", 3, 60)
    at = changed.index(b"\x08\x01", at)
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / part.name).write_bytes(changed[:at] + b"\x08\x63" + changed[at + 2:])
    done = memoir("newer")
    assert done.returncode == 1 and "newer" in one_line(done)


def test_truncated_capture_shows_what_is_there(memoir, samples):
    done = memoir(samples / "losses")
    assert done.returncode == 0
    assert "peak 10.0 MiB" in done.stdout and "! damaged: " in done.stdout and "cut in the middle of a chunk" in done.stdout


@pytest.mark.parametrize("arguments, message", [(["--by", "operators"], "did you mean operator?"),
                                                (["--at", "noon"], "--at noon"),
                                                (["--steps", "5:2"], "--steps 5:2"),
                                                (["--over", "space"], "only time"),
                                                (["--tree", "--at", "peak"], "different views"),
                                                (["--range", "a", "--steps", "1:2"], "two windows")])
def test_show_refuses_what_makes_no_sense(memoir, samples, arguments, message):
    done = memoir("show", samples / "training", *arguments)
    assert done.returncode == 2 and message in one_line(done)


def test_window_that_does_not_occur(memoir, samples):
    done = memoir(samples / "training", "--range", "forwrd")
    assert done.returncode == 1 and "forward" in one_line(done)
    done = memoir(samples / "training", "--at", "oom")
    assert done.returncode == 1 and "no out-of-memory error is recorded" in one_line(done)


def test_full_output_is_an_error(memoir, samples, fake_tree):
    with open("/dev/full", "w") as full:
        done = subprocess.run([fake_tree / "bin/memoir", samples / "training"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "No space left on device" in done.stderr


# Views through the program


def test_json_sums_close(memoir, samples):
    for sample in ("training", "ranks", "odd_names"):
        for by, key in (("operator", "operators"), ("thread", "threads"), ("shape", "shapes"), ("range", "ranges")):
            report = json.loads(memoir("show", samples / sample, "--json", "--by", by).stdout)
            for row_key, device_key in (("allocated_bytes", "allocated_bytes"), ("net_bytes", "live_bytes_at_end"),
                                        ("bytes_at_peak", "peak_allocated_bytes")):
                rows = sum(row[row_key] for row in report[key])
                assert rows == sum(device[device_key] for device in report["devices"]) > 0, (sample, by, row_key)


def test_bare_capture_is_show(memoir, samples):
    assert memoir(samples / "training").stdout == memoir("show", samples / "training").stdout != ""


def test_columns_are_respected(memoir, samples):
    narrow = memoir(samples / "odd_names", "--tree", COLUMNS=60).stdout
    wide = memoir(samples / "odd_names", "--tree", COLUMNS=200).stdout
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))


def test_colors_only_on_a_terminal(fake_tree, samples):
    def on_terminal(**variables):
        ours, theirs = pty.openpty()
        subprocess.run([fake_tree / "bin/memoir", samples / "one_operator"], stdout=theirs, stderr=theirs,
                       env={**os.environ, "TERM": "xterm", **variables})
        os.close(theirs)
        return os.read(ours, 65536)

    assert b"\x1b[" in on_terminal(NO_COLOR="")
    assert b"\x1b[" not in on_terminal(NO_COLOR="1")
    assert b"\x1b[" not in on_terminal(NO_COLOR="", TERM="dumb")


def test_export_events(memoir, samples, tmp_path):
    assert memoir("export", "events", samples / "training", "-o", "events.jsonl").returncode == 0
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert memoir("export", "events", samples / "training").stdout == (tmp_path / "events.jsonl").read_text()
    assert sum(line["bytes"] for line in lines if line["event"] == "allocate") == \
        json.loads(memoir("show", samples / "training", "--json").stdout)["devices"][0]["allocated_bytes"]
    done = memoir("export", "event", samples / "training")
    assert done.returncode == 2 and "did you mean events?" in one_line(done)
    assert memoir("export", "events", samples / "training", "-o", "missing/file").returncode == 1


# Doctor and help


def test_doctor_finds_what_is_wrong(memoir, tmp_path):
    done = memoir("doctor", "--python", sys.executable, "--json", MEMOIR_OUTPT="x", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert done.returncode == 3
    report = json.loads(done.stdout)
    wrong = {check["subject"] for check in report["checks"] if check["level"] == "wrong"}
    assert {"variables", "start-up"} <= wrong and report["wrong"] >= 2
    assert all(check["fix"] for check in report["checks"] if check["level"] != "ok")


def test_doctor_is_content(memoir, tmp_path):
    torch = tmp_path / "site" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("raise SystemExit('imported')")
    (torch / "version.py").write_text("__version__ = '9.9.1'\n")
    done = memoir("doctor", "--python", sys.executable, PYTHONPATH=tmp_path / "site", MEMOIR_RING_DIR=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "9.9.1" in done.stdout and "Recorded here" in done.stdout


def test_doctor_without_python(memoir):
    done = memoir("doctor", "--python", "/no/such/python")
    assert done.returncode == 3 and "does not run here" in done.stdout


@pytest.mark.parametrize("verb", ["run", "show", "export", "doctor"])
def test_help_has_two_examples(memoir, verb):
    done = memoir(verb, "--help")
    assert done.returncode == 0
    examples = done.stdout.split("Examples:")[1].strip().splitlines()
    assert len(examples) == 2 and all("memoir" in example for example in examples)


def test_help_and_version(memoir):
    assert memoir("--help").returncode == 0 and "memoir run" in memoir("--help").stdout
    assert memoir("--version").stdout.startswith("memoir 0.")
    assert memoir().returncode == 2
