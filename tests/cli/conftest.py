"""A tree to run the memoir program from, whose recorder is a stand-in: nothing here needs torch."""

import os
import pathlib
import shutil
import subprocess

import pytest

PROGRAM = pathlib.Path(os.environ.get("MEMOIR_PROGRAM", "memoir"))
WRITE_SAMPLES = os.environ.get("MEMOIR_WRITE_SAMPLES")


@pytest.fixture(scope="session")
def fake_tree(tmp_path_factory):
    """An installed tree whose interposer is an empty library."""
    root = tmp_path_factory.mktemp("tree")
    for folder in ("bin", "lib/memoir/python/_torch_memoir", "libexec/memoir"):
        (root / folder).mkdir(parents=True)
    shutil.copy2(PROGRAM, root / "bin" / "memoir")
    (root / "lib/memoir/python/_torch_memoir/__init__.py").write_text("")
    empty = root / "empty.c"
    empty.write_text("int memoir_stand_in;\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", root / "lib/memoir/libmemoir_interpose.so", empty], check=True)
    (root / "lib/memoir/libmemoir_tracker-torch9.9.so").write_bytes(b"")
    drain = root / "libexec/memoir/memoir-drain"
    # Prints the list in a file next to it.
    drain.write_text("#!/bin/sh\ncase \"$1\" in --*) cat \"$(dirname \"$0\")/rings\" 2>/dev/null; exit 0;; esac\n"
                     "echo \"$1\" >> \"$(dirname \"$1\")/drained\"\nrm \"$1\"\n")
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
        environment["PATH"] = f"{fake_tree / 'bin'}{os.pathsep}{environment['PATH']}"  # so that it prints its commands as "memoir show"
        environment.update({key: str(value) for key, value in variables.items()})
        return subprocess.run([str(program), *map(str, arguments)], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    return memoir


@pytest.fixture
def page(fake_tree):
    """A page that stands for the one that Node.js builds."""
    file = fake_tree / "lib" / "memoir" / "report.html"
    file.write_text("<title><!--memoir:title--></title><!--memoir:sections--><p>end</p>")
    yield file
    file.unlink(missing_ok=True)


@pytest.fixture
def one_line():
    """The single line of an error, without the pointer to the help."""

    def one_line(done):
        lines = [line for line in done.stderr.splitlines() if not line.startswith("memoir: see ")]
        assert len(lines) == 1, done.stderr
        return lines[0]

    return one_line
