"""Programs that write a device's report as the simulated device would, and memoir fit in a tree that has a stand-in for it."""

import importlib.util
import os
import pathlib
import re
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1 << 20


def torch_words():
    """How an answer ends: what the interpreter of these tests would import, which need not be there."""
    spec = importlib.util.find_spec("torch")
    version = re.search(r"__version__ = '([^']+)'", (pathlib.Path(spec.origin).parent / "version.py").read_text()) if spec else None
    return f" (torch {version[1]})" if version else ""


TORCH = torch_words()

# fake.py NEED: allocates this many MiB in addition to a context of 500, and fails if the card has less; `--code N` ends with it first.
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
    with open(os.environ["MEMOIR_SIM_REPORT"] + "/unknown", "a") as unknown:
        unknown.write("shape aten::nonzero\\nshape aten::masked_select\\nshape aten::nonzero\\n")
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
    shutil.copy(ROOT / "simcuda/profiles.txt", root / "lib/memoir/simulated_gpus.txt")
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
