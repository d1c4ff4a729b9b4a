"""./dev compat VERSION... or all: Memoir with other torches, proven or not, each as one row of docs/packaging/compatibility.md.

Makes an environment with torch VERSION from PyPI in build/torches, builds the tracker for it, runs the tests that tests/every_torch.txt names with it, and
writes the row. A failure is a row, too: the other versions are tried, the last line names the ones that failed, and the exit code is then 1. For 2.11.0 and
2.15.0 it uses the environments of ./dev test. Builds are kept in build/compat-build, and the part of each environment that ./dev wheel links with (0.6 GB of
5).
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree
import zipfile

import torches

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "compat"
PAGE = ROOT / "docs" / "packaging" / "compatibility.md"
COLUMNS = ("torch", "Python", "CUDA", "builds", "records", "tests passed", "remark")
VERSION_OF_PYTHON = "import sys; print(*sys.version_info[:2], sep='.')"
PROGRAM = "import torch\nkept = torch.ones(1000) + 1\n"


class Failed(Exception):
    pass


def run(log, *command, **options):
    """Runs `command`, with its output appended to build/compat/LOG.log."""
    path = WORK / f"{log}.log"
    with open(path, "a") as file:
        done = subprocess.run(list(map(str, command)), stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise Failed(f"{log} failed: {path}")


def said(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout.strip()


def environment(version, interpreter):
    """Returns the interpreter of an environment with this torch, and its versions: (path, Python, torch, CUDA)."""
    log = WORK / "environment.log"
    question = "import sys, torch; print(*sys.version_info[:2], sep='.'); print(torch.__version__); print(torch.version.cuda)"
    python, late = torches.of_tests(version), []
    if python is None or said(python, "-c", VERSION_OF_PYTHON) != said(interpreter, "-c", VERSION_OF_PYTHON):
        python, late = torches.make_whole(version, interpreter, log)
    try:
        facts = said(python, "-W", "ignore", "-c", question)
    except subprocess.CalledProcessError:
        if not late:
            raise
        torches.add(python, log, late)
        facts = said(python, "-W", "ignore", "-c", question)
    return python, *facts.splitlines()


def build(python, version, folder, wheel):
    """Returns an installed tree, and the folder with the programs of the tests. `folder` is an existing build. Without it one build folder serves all
    versions, because only the tracker differs: it contains the tracker for build/venv's torch, whose CUDA headers serve all, and for this torch. With
    `wheel` the tree is the content of the wheel, and only the programs of the tests are built."""
    tree, minor = WORK / "tree", torches.minor(version)
    parts = [f"counting_allocator-torch{minor}", f"libtorch_training-torch{minor}", "libtorch_host", "cut_categories"]
    if folder is None:
        folder, first = ROOT / "build" / "compat-build", ROOT / "build" / "venv" / "bin" / "python"
        other = torches.of_tests(version) or python   # a tracker serves every Python
        run("build", "cmake", "--preset", "release", "-B", folder, f"-DMEMOIR_PYTHON={first}", f"-DMEMOIR_OTHER_PYTHONS={'' if other == first else other}")
        parts += [] if wheel else ["all"]
    run("build", "cmake", "--build", folder, "--parallel", os.cpu_count(), "--target", *parts)
    shutil.rmtree(tree, ignore_errors=True)
    if wheel:
        tree = unpack(wheel, tree)
    else:
        run("build", "cmake", "--install", folder, "--prefix", tree)
    return tree, folder / "tests"


def unpack(wheel, folder):
    """The installed tree in `wheel`, as pip leaves it."""
    pip = (ROOT / "build" / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    run("build", *pip, "install", "--no-index", "--no-deps", "--target", folder, wheel)
    tree = folder / "memoir" / "_tree"
    # A wheel holds no links; tests preload the simulated device under the name that it has elsewhere.
    (tree / "lib" / "memoir" / "libmemoir_simcuda.so").symlink_to("simulated/libcuda.so.1")
    return tree


def simulates(tree, python):
    """Whether the simulated device has what this torch imports: it is built with the headers of build/venv, of CUDA 13."""
    done = subprocess.run([tree / "bin" / "memoir", "doctor", "--simulated", "--json", "--python", python], capture_output=True, text=True)
    return any(check["subject"] == "simulated CUDA" and check["level"] == "ok" for check in json.loads(done.stdout)["checks"])


def records(tree, python):
    program, capture = WORK / "program.py", WORK / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    program.write_text(PROGRAM)
    run("record", tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", python, program)
    if "aten::ones" not in said(tree / "bin" / "memoir", "show", capture):
        raise Failed("the capture lacks aten::ones")


def tests(tree, beside, minor, python, simulated):
    """(passed, all, the names of what failed); skipped ones are not counted."""
    names = [line for line in (ROOT / "tests" / "every_torch.txt").read_text().splitlines() if line and not line.startswith("#")]
    variables = {"TESTED_TREE": str(tree), "COUNTING_ALLOCATOR": str(beside / "property" / f"libcounting_allocator-torch{minor}.so"),
                 "LIBTORCH_PROGRAMS": str(beside / "libtorch"), "CUT_CATEGORIES": str(beside / "categories" / "cut_categories")}
    if not simulated:
        variables["WITHOUT_SIMULATION"] = "1"
        names = [name for name in names if not name.startswith("simulated/")]
    cases = []
    for folder in dict.fromkeys(name.split("/")[0] for name in names):   # one after another: files of two folders may have one name
        cases += run_tests(python, variables, [name for name in names if name.split("/")[0] == folder])
    cases = [case for case in cases if case.find("skipped") is None]
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases) - len(failed), len(cases), failed


def run_tests(python, variables, names):
    report = WORK / "report.xml"
    report.unlink(missing_ok=True)
    try:
        run("tests", python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", f"--junitxml={report}", *(ROOT / "tests" / name for name in names),
            env=os.environ | variables)
    except Failed:
        if not report.exists():
            raise
    return list(xml.etree.ElementTree.parse(report).iter("testcase"))


def examine(version, interpreter, folder, wheel):
    row = dict.fromkeys(COLUMNS, "") | {"torch": version, "builds": "no", "records": "no"}
    try:
        python, row["Python"], row["torch"], row["CUDA"] = environment(version, interpreter)
        row["torch"] = row["torch"].split("+")[0]
        tree, beside = build(python, version, folder, wheel)
        row["builds"] = "yes"
        records(tree, python)
        row["records"] = "yes"
        simulated = simulates(tree, python)
        passed, count, failed = tests(tree, beside, torches.minor(version), python, simulated)
        row["tests passed"] = f"{passed} of {count}"
        row["remark"] = "fails: " + ", ".join(failed[:3]) if failed else "" if simulated else "without the simulated device"
    except (Failed, subprocess.CalledProcessError, OSError) as problem:
        row["remark"] = re.sub(r"\S*/build/compat/", "", str(problem))
    return row


def fine(row):
    passed, _, count = row["tests passed"].partition(" of ")
    return passed == count != ""


def order(row):
    return [tuple(int(part) for part in re.findall(r"\d+", row[column])) for column in ("torch", "Python")]


def write_row(page, row):
    """The page's text with `row` in its table, in place of the one for the same torch and Python."""
    lines = page.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("| torch |")) + 2
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    rows = [dict(zip(COLUMNS, (cell.strip() for cell in line.strip("|").split("|")))) for line in lines[start:end]]
    rows = [old for old in rows if (old["torch"], old["Python"]) != (row["torch"], row["Python"])] + [row]
    lines[start:end] = ["| " + " | ".join(row[column] for column in COLUMNS) + " |" for row in sorted(rows, key=order)]
    return "\n".join(lines)


def versions_of(words):
    """The versions that the command line names, in full, each once."""
    found = [version for word in words for version in (torches.LAST if word == "all" else (word,))]
    for version in found:
        if not re.fullmatch(r"\d+\.\d+\.\d+", version):
            sys.exit(f"./dev compat {version}: write the version in full, as in 2.9.1, or all: {', '.join(torches.LAST)}")
    return list(dict.fromkeys(found))


def tidy(version, options):
    folder = torches.interpreter_of(version).parents[1]
    if options.remove:
        shutil.rmtree(folder, ignore_errors=True)
    elif not options.keep and folder.exists():
        torches.reduce(folder)


def main():
    parser = argparse.ArgumentParser(prog="./dev compat", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", metavar="VERSION", nargs="+", help="of torch, 2.6.0 or later, in full: 2.9.1; or all: the last of each minor")
    parser.add_argument("--python", default="python3", help="interpreter for the environments [python3]")
    parser.add_argument("--build", type=pathlib.Path, metavar="FOLDER",
                        help="take what was built there for that torch: build/dev for 2.11 and 2.15, with another Python [build anew]")
    parser.add_argument("--wheel", type=pathlib.Path, help="test what this wheel of ./dev wheel --all-torches installs [build anew]")
    parser.add_argument("--keep", action="store_true", help="leave whole environments in build/torches: 4 to 6 GB each")
    parser.add_argument("--remove", action="store_true", help="leave nothing of them, not even what ./dev wheel links with")
    options = parser.parse_args()
    versions = versions_of(options.versions)
    if shutil.which(options.python) is None or subprocess.run([options.python, "-c", ""], capture_output=True).returncode != 0:
        sys.exit(f"./dev compat: {options.python} does not run here; name an interpreter by its path (pyenv's shims only run versions that are switched on)")
    if options.wheel and not zipfile.is_zipfile(options.wheel):
        sys.exit(f"./dev compat: {options.wheel} is no wheel; ./dev wheel --all-torches makes one in dist")
    WORK.mkdir(parents=True, exist_ok=True)
    failed = []
    for version in versions:
        for log in WORK.glob("*.log"):
            log.unlink()
        started = time.monotonic()
        row = examine(version, options.python, options.build and options.build.resolve(), options.wheel and options.wheel.resolve())
        PAGE.write_text(write_row(PAGE.read_text(), row))
        tidy(version, options)
        print(" | ".join(f"{column} {row[column]}" for column in COLUMNS if row[column]) + f" | {time.monotonic() - started:.0f} s", flush=True)
        if not fine(row):
            failed.append(version)
            keep_logs(version)
    if failed:
        sys.exit(f"{len(failed)} of {len(versions)} failed: {', '.join(failed)}; what they said is in build/compat/VERSION")


def keep_logs(version):
    folder = WORK / version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for log in WORK.glob("*.log"):
        shutil.copy(log, folder)


if __name__ == "__main__":
    main()
