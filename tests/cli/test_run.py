"""memoir run: exit codes, streams, the environment it sets, the summary at the end, and errors."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

# Leaves a capture as a recorder would, from the samples.
FAKE_RECORDER = "import os, shutil; shutil.copytree(os.environ['SAMPLE'], os.environ['MEMOIR_OUTPUT'], dirs_exist_ok=True)"


# The folder


@pytest.mark.parametrize("umask", [0, 0o022, 0o777])
def test_a_folder_is_for_its_owner_alone(memoir, tmp_path, umask):
    modes = "import os; print([oct(os.stat(folder).st_mode & 0o777) for folder in ('new', 'new/inside', 'new/inside/run')])"
    before = os.umask(umask)
    try:
        done = memoir("run", "-q", "-o", "new/inside/run", "--", sys.executable, "-c", modes)
    finally:
        os.umask(before)
    assert (done.returncode, done.stdout) == (0, "['0o700', '0o700', '0o700']\n"), done.stderr


def test_a_folder_that_is_removed_meanwhile(memoir, one_line, tmp_path):
    done = memoir("run", "-o", "out", "--", sys.executable, "-c", "import os; os.rmdir(os.environ['MEMOIR_OUTPUT'])")
    assert done.returncode == 0 and not (tmp_path / "out").exists()
    assert one_line(done) == f"memoir: nothing is left of the recording: {tmp_path}/out was removed while the command ran"


# Running a command


@pytest.mark.parametrize("code", [0, 1, 3, 42, 255])
def test_exit_code_passes_through(memoir, code):
    assert memoir("run", "-q", "--", sys.executable, "-c", f"raise SystemExit({code})").returncode == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGSEGV, signal.SIGABRT, signal.SIGRTMIN])
def test_death_by_a_signal_is_ours_too(fake_tree, tmp_path, number):
    """The limit on core files is lifted, but not for the command: a core file would be memoir's."""
    program = f"""
import os, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if {int(number)} != signal.SIGKILL: signal.signal({int(number)}, signal.SIG_DFL)
os.kill(os.getpid(), {int(number)})
"""
    died = subprocess.run(["bash", "-c", 'ulimit -c unlimited; exec "$@"', "bash", fake_tree / "bin/memoir", "run", "-q", "--", sys.executable, "-c", program],
                          cwd=tmp_path, text=True, capture_output=True)
    assert died.returncode == -number, died.stderr
    assert os.listdir(tmp_path) == []


def test_a_script_ends_where_it_would_without_us(fake_tree, tmp_path):
    """After ^C, which the whole process group gets, bash goes on behind a command that ended with 130, but not behind one that died of it."""
    script = f"{fake_tree}/bin/memoir run -q -- sh -c 'kill -INT 0; sleep 5'; echo went on"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, text=True, capture_output=True, start_new_session=True)
    assert done.stdout == "" and done.returncode == -signal.SIGINT, done


def test_a_command_that_cannot_be_recorded_and_is_killed(memoir, tmp_path):
    (tmp_path / "file").touch()
    died = memoir("run", "-o", "file/out", "--", "sh", "-c", "kill -TERM $$")
    assert died.returncode == -signal.SIGTERM and "The command runs unrecorded" in died.stderr


def test_process_1_of_a_container_ends_with_128_plus_the_signal(fake_tree, tmp_path):
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", fake_tree / "bin/memoir", "run", "-q", "--", "sh", "-c", "kill -TERM $$"],
                          cwd=tmp_path, text=True, capture_output=True)
    if "unshare: " in done.stderr:
        pytest.skip("this machine lets nobody make a process namespace: " + done.stderr)
    assert done.returncode == 128 + signal.SIGTERM, done.stderr


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
    assert seen["MEMOIR_OUTPUT"] == seen["MEMOIR_NOTES"] == str(tmp_path / "out")
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
    assert "holds a space or colon" in done.stderr and "move the installation to a path without them. Going on without preload" in done.stderr


def test_tree_without_its_interposer(memoir, fake_tree, tmp_path):
    shutil.copytree(fake_tree, tmp_path / "tree")
    (tmp_path / "tree/lib/memoir/libmemoir_interpose.so").unlink()
    done = memoir("run", "-q", "--", sys.executable, "-c", "print('ran')", program=tmp_path / "tree/bin/memoir")
    assert done.stdout == "ran\n"
    assert "libmemoir_interpose.so; install Memoir again. Going on without preload" in done.stderr


def test_default_folder_is_named_for_the_time(memoir, samples, tmp_path):
    memoir("run", "-q", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / "training")
    folder, = tmp_path.glob("memoir-*")
    assert len(folder.name) == len("memoir-20260102-030405") and list(folder.glob("*.memoir"))


@pytest.mark.parametrize("arguments", [["--"], []], ids=["dashes", "dashes forgotten"])
def test_command_keeps_its_own_options(memoir, arguments):
    done = memoir("run", "-q", *arguments, sys.executable, "-c", "import sys; print(sys.argv[1:])", "-q", "--", "-o", "x")
    assert done.stdout == "['-q', '--', '-o', 'x']\n"


# After the command


def test_summary_at_the_end(memoir, samples):
    done = memoir("run", "-o", "out", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / "training")
    assert done.returncode == 0 and done.stdout == ""
    lines = done.stderr.splitlines()
    assert all(line.startswith("memoir:") for line in lines) and len(lines) <= 12
    assert lines[1].startswith("memoir: peak      10.0 MiB on cpu, step 0 ")


@pytest.mark.parametrize("sample", ["training", "cuda", "losses", "ranks"])
@pytest.mark.parametrize("on_path", [True, False])
def test_the_next_commands_work_when_pasted(memoir, fake_tree, samples, tmp_path, sample, on_path):
    path = f"{fake_tree / 'bin'}:{os.environ['PATH']}" if on_path else os.environ["PATH"]
    done = memoir("run", "-o", "it's out", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / sample, PATH=path)
    commands = [line.split(maxsplit=2)[2] for line in done.stderr.splitlines() if line.split()[1] in ("tables", "errors", "lower", "browser")]
    assert len(commands) == (2 if sample == "cuda" else 1), done.stderr  # this tree has no page for a report
    for command in commands:
        assert command.startswith("memoir " if on_path else f"{fake_tree}/bin/memoir "), command
        pasted = subprocess.run(command, shell=True, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True)
        assert pasted.returncode == (3 if "check oom" in command else 0) and "train.py" in pasted.stdout or "out of memory" in pasted.stdout, pasted


def test_quiet_says_nothing(memoir, samples):
    done = memoir("run", "-q", "-o", "out", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / "training")
    assert (done.stdout, done.stderr) == ("", "")


def test_second_recording_into_a_folder_is_said(memoir, samples):
    for _ in range(2):
        done = memoir("run", "-o", "out", "--", sys.executable, "-c", FAKE_RECORDER, SAMPLE=samples / "training")
    assert "already holds a capture" in done.stderr


def test_nothing_recorded_is_explained(memoir, tmp_path, one_line):
    done = memoir("run", "-o", "out", "--", "sh", "-c", "exit 5")
    assert done.returncode == 5
    assert one_line(done).startswith("memoir: nothing was recorded: no process imported torch and ran an operator. ")
    assert not (tmp_path / "out").exists()


def test_nothing_recorded_because_python_ignores_the_environment(memoir, one_line):
    assert "-I and -E ignore PYTHONPATH" in one_line(memoir("run", "--", sys.executable, "-I", "-c", ""))


@pytest.mark.parametrize("value", ["0", "", "true"])
def test_nothing_recorded_because_autoload_is_off(memoir, one_line, value):
    done = memoir("run", "--", sys.executable, "-c", "", TORCH_DEVICE_BACKEND_AUTOLOAD=value)
    assert f"TORCH_DEVICE_BACKEND_AUTOLOAD='{value}' keeps torch from starting Memoir" in one_line(done)


# Also for a nightly of a minor with a tracker: its C++ interface may differ.
@pytest.mark.parametrize("version", ["2.3.4+cpu", "9.9.0.dev20261120+cpu", "9.9.0a0+git1234567"])
def test_nothing_recorded_because_no_tracker_fits(memoir, tmp_path, one_line, version):
    torch = tmp_path / "site" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("raise SystemExit('imported')")
    (torch / "version.py").write_text(f"__version__ = '{version}'\n")
    done = memoir("run", "--", sys.executable, "-c", "", PYTHONPATH=tmp_path / "site")
    assert f"no tracker for torch {version} (this Memoir has: 9.9); in Memoir's sources: {sys.executable} -m pip install ." in one_line(done)


def test_nothing_recorded_is_not_said_twice(memoir, tmp_path, one_line):
    # The recorder's start-up if it cannot record.
    program = """if True:
        import os, sys
        print("memoir: not recording: because", file=sys.stderr)
        open(os.path.join(os.environ["MEMOIR_NOTES"], f".not-recorded.{os.getpid()}"), "w").write("because")"""
    done = memoir("run", "-o", "out", "--", sys.executable, "-c", program)
    assert one_line(done) == "memoir: not recording: because"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("taken", [True, False])
def test_start_up_leaves_a_note_when_it_cannot_record(tmp_path, taken):
    """If a `memoir run` waits for it: no other process would remove it."""
    notes = {"MEMOIR_NOTES": str(tmp_path)} if taken else {}
    package = pathlib.Path(__file__).parents[2] / "python"
    (tmp_path / "torch.py").write_text("raise RuntimeError('because')")
    start = subprocess.run([sys.executable, "-c", "from _torch_memoir import _startup; _startup.from_torch()"], text=True,
                           capture_output=True, env={**os.environ, "PYTHONPATH": f"{tmp_path}:{package}", "MEMOIR_ENABLE": "1",
                                                     "MEMOIR_OUTPUT": str(tmp_path), **notes})
    assert start.stderr == "memoir: not recording: because\n"
    assert [note.read_text() for note in tmp_path.glob(".not-recorded.*")] == ["because\n"] * len(notes)


GONE = {
    "none": "sys.stderr = None",  # print would take standard output
    "closed": "sys.stderr.close()",
    "full": "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)",
    "nobody reads": "r, w = os.pipe(); os.close(r); os.dup2(w, 2)",
}


@pytest.mark.parametrize("terminal", GONE)
def test_start_up_goes_on_where_the_terminal_is_gone_and_the_locale_lacks_letters(tmp_path, terminal):
    package = pathlib.Path(__file__).parents[2] / "python"
    (tmp_path / "torch.py").write_text("raise RuntimeError('caf\\u00e9 \\udcff')")
    program = f"import os, sys; {GONE[terminal]}; from _torch_memoir import _startup; _startup.from_torch(); print('ran')"
    start = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True,
                           env={**os.environ, "PYTHONPATH": f"{tmp_path}:{package}", "MEMOIR_ENABLE": "1", "MEMOIR_NOTES": str(tmp_path),
                                "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert (start.returncode, start.stdout, start.stderr) == (0, "ran\n", "")
    assert [note.read_bytes() for note in tmp_path.glob(".not-recorded.*")] == [b"caf\xc3\xa9 \\udcff\n"]


def test_nothing_recorded_because_the_package_is_missing(memoir, fake_tree, tmp_path, one_line):
    shutil.copytree(fake_tree, tmp_path / "tree")
    shutil.rmtree(tmp_path / "tree/lib/memoir/python")
    done = memoir("run", "--", sys.executable, "-c", "", program=tmp_path / "tree/bin/memoir")
    assert f"this installation lacks {tmp_path}/tree/lib/memoir/python/_torch_memoir; install Memoir again" in one_line(done)


def test_nothing_recorded_because_of_a_signal(memoir, one_line):
    done = memoir("run", "--", sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGXCPU)")
    assert done.returncode == -24 and "signal 24 (CPU time limit exceeded) ended" in one_line(done)


def test_nothing_recorded_because_the_environment_was_cleared(memoir, one_line):
    assert "env -i clears the variables" in one_line(memoir("run", "--", "env", "-i", sys.executable, "-c", ""))


# Mistakes


def test_command_not_found(memoir, tmp_path, one_line):
    done = memoir("run", "-o", "out", "--", "no-such-program")
    assert done.returncode == 127 and "cannot start no-such-program: no such command" in one_line(done)
    assert not (tmp_path / "out").exists()


def test_command_not_executable(memoir, tmp_path, one_line):
    (tmp_path / "script").write_text("")
    done = memoir("run", "--", "./script")
    assert done.returncode == 126 and "Permission denied" in one_line(done)


def test_command_that_is_no_program(memoir, tmp_path, one_line):
    (tmp_path / "script").write_text("#!/no/such/python\n")
    (tmp_path / "script").chmod(0o755)
    for command, code, cause in ((tmp_path, 126, "is a directory"), ("", 127, "its name is empty"),
                                 ("./script", 127, "asks for /no/such/python, which does not exist")):
        done = memoir("run", "--", command)
        assert done.returncode == code and cause in one_line(done), command


def test_no_command(memoir, one_line):
    for arguments in (["run"], ["run", "--"], ["run", "-o", "x", "--"]):
        done = memoir(*arguments)
        assert done.returncode == 2 and "no command to run" in one_line(done)


@pytest.mark.parametrize("arguments, nearest", [(["run", "--ouput", "x", "--", "true"], "--output"),
                                                (["show", "--jsn", "x"], "--json"),
                                                (["--topp", "3", "x"], "--top"),
                                                (["doctor", "--pyton", "x"], "--python")])
def test_unknown_option_names_the_nearest(memoir, arguments, nearest, one_line):
    done = memoir(*arguments)
    assert done.returncode == 2
    assert f"unknown option {next(a for a in arguments if a.startswith('--'))}; did you mean {nearest}?" in one_line(done)


def test_bad_value_names_the_option(memoir, one_line):
    done = memoir("run", "--max-size", "lots", "--", "true")
    assert done.returncode == 2 and "--max-size=lots: expected a size" in one_line(done)
    for number in ("99999999999", "-1", "abc"):
        done = memoir("run", "--rank", number, "--", "true")
        assert done.returncode == 2 and f"--rank={number}: expected a whole number, at most 999999999" in one_line(done)
    done = memoir("run", "--", "true", MEMOIR_RING_SIZE="huge")
    assert done.returncode == 2 and "MEMOIR_RING_SIZE=huge" in one_line(done)


def test_unknown_variable_is_a_warning(memoir):
    warning = "memoir: unknown variable MEMOIR_OUTPT is ignored; did you mean MEMOIR_OUTPUT?"
    for options, quiet, warned in (((), "0", True), (("-q",), "0", False), ((), "1", False)):
        done = memoir("run", *options, "--", sys.executable, "-c", "print('ran')", MEMOIR_OUTPT="x", MEMOIR_QUIET=quiet)
        assert done.returncode == 0 and done.stdout == "ran\n"
        assert (warning in done.stderr) == warned


def test_unwritable_folder_runs_the_command_unrecorded(memoir, tmp_path, one_line):
    (tmp_path / "file").write_text("")
    show = "import os; print(os.environ.get('MEMOIR_ENABLE')); raise SystemExit(9)"
    done = memoir("run", "-o", "file/out", "--", sys.executable, "-c", show)
    assert done.returncode == 9 and done.stdout == "None\n"
    assert "cannot record into" in one_line(done) and "choose a folder with -o DIR" in one_line(done)


@pytest.mark.parametrize("options", [(), ("-o", "relative"), ("--ring-dir", "relative")])
def test_a_working_folder_that_is_gone_runs_the_command_unrecorded(memoir, fake_tree, tmp_path, options):
    (tmp_path / "gone").mkdir()
    done = memoir("-c", 'cd gone && rmdir ../gone && exec "$@"', "sh", fake_tree / "bin" / "memoir", "run", *options,
                  "--", "sh", "-c", "echo ran; exit 9", program="sh")
    assert (done.returncode, done.stdout) == (9, "ran\n")
    line, = [line for line in done.stderr.splitlines() if line.startswith("memoir: ")]
    assert "cannot record into" in line and "choose a folder with -o DIR" in line


def test_without_proc_the_installation_is_found_all_the_same(memoir, fake_tree):
    hidden = "mount -t tmpfs tmpfs /proc"
    if subprocess.run(["unshare", "--mount", "sh", "-c", hidden], capture_output=True).returncode != 0:
        pytest.skip("mounting takes root, and a container that allows it")
    done = memoir("--mount", "sh", "-c", f"{hidden} && cd {fake_tree} && exec bin/memoir run --print-env=json", program="unshare")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["LD_PRELOAD"] == str(fake_tree / "lib/memoir/libmemoir_interpose.so")


# --print-env


def test_printed_environment_attaches_in_a_shell(memoir, fake_tree, tmp_path):
    printed = memoir("run", "--print-env", "-q", "-o", "it's here", "--steps", "1:2").stdout
    script = printed + 'env | grep -E "^(MEMOIR_|LD_PRELOAD|PYTHONPATH)" | sort'
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "/mine"}
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        f"LD_PRELOAD={fake_tree}/lib/memoir/libmemoir_interpose.so", "MEMOIR_ENABLE=1", f"MEMOIR_OUTPUT={tmp_path}/it's here",
        "MEMOIR_QUIET=1", "MEMOIR_STEPS=1:2", f"PYTHONPATH={fake_tree}/lib/memoir/python:/mine"]
    assert not (tmp_path / "it's here").exists()


def test_printed_environment_as_json(memoir, fake_tree, tmp_path):
    found = json.loads(memoir("run", "--print-env=json", PYTHONPATH="/mine", MEMOIR_NOTES="/around").stdout)
    assert found["PYTHONPATH"] == f"{fake_tree}/lib/memoir/python:/mine" and found["MEMOIR_ENABLE"] == "1"
    assert found["MEMOIR_OUTPUT"].startswith(f"{tmp_path}/memoir-") and "MEMOIR_NOTES" not in found


def test_printed_environment_attaches_where_it_was_switched_off(memoir):
    assert "export MEMOIR_ENABLE='1'\n" in memoir("run", "--print-env", MEMOIR_ENABLE=0).stdout
    assert json.loads(memoir("run", "--print-env=json", MEMOIR_ENABLE=0).stdout)["MEMOIR_ENABLE"] == "1"


def test_printed_environment_runs_nothing(memoir, one_line):
    done = memoir("run", "--print-env", "--", "echo", "ran")
    assert done.returncode == 2 and done.stdout == ""
    assert one_line(done) == "memoir: --print-env runs no command; leave one of them out"


@pytest.mark.parametrize("option, value, expected", [
    ("--steps", "7", "A:B"), ("--steps", "3:3", "A:B"), ("--schedule", "active=0", "active at least 1"),
    ("--schedule", "wait", "active at least 1"), ("--start", "soon", "on, memory or off"), ("--toggle-signal", "KILL", "USR1"),
    ("--toggle-signal", "11", "USR1"),
])
def test_windows_that_mean_nothing_are_refused(memoir, one_line, option, value, expected):
    done = memoir("run", option, value, "--", "echo", "ran")
    assert done.returncode == 2 and done.stdout == ""
    assert one_line(done).startswith(f"memoir: {option}={value}: expected ") and expected in done.stderr


def test_two_windows_are_refused(memoir, one_line):
    done = memoir("run", "--steps", "1:2", "--range", "x", "--", "true")
    assert done.returncode == 2 and "different windows" in one_line(done)
