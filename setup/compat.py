"""./dev compat VERSION: Memoir with another torch, proven or not, as one row of docs/compatibility.md.

Makes an environment with torch VERSION from PyPI, builds the tracker for it, runs the tests that tests/every_torch.txt names with it, writes
the row and takes the environment away again (about 5 GB). A failure is a row, too: the exit code is then 1.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "compat"
PAGE = ROOT / "docs" / "compatibility.md"
COLUMNS = ("torch", "Python", "CUDA", "builds", "records", "tests passed", "remark")
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
    """The interpreter of a new environment with that torch, and what there is to say of it: (path, Python, torch, CUDA)."""
    folder = WORK / f"venv-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    run("environment", interpreter, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run("environment", python, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check", "--progress-bar", "off", f"torch=={version}", "numpy",
        "pytest", "setuptools")
    facts = said(python, "-W", "ignore", "-c", "import sys, torch; print(*sys.version_info[:2], sep='.'); print(torch.__version__); print(torch.version.cuda)")
    return python, *facts.splitlines()


def build(python, minor):
    """An installed tree, and the allocator of tests/property; one build folder for all versions, for only the tracker differs."""
    folder, tree = ROOT / "build" / "compat-build", WORK / "tree"
    run("build", "cmake", "--preset", "dev", "-B", folder, f"-DMEMOIR_PYTHON={python}", "-DMEMOIR_OTHER_PYTHONS=",
        "-DMEMOIR_BUILD_TESTS=OFF")
    parts = ["all", f"counting_allocator-torch{minor}"]
    run("build", "cmake", "--build", folder, "--parallel", os.cpu_count(), "--target", *parts)
    shutil.rmtree(tree, ignore_errors=True)
    run("build", "cmake", "--install", folder, "--prefix", tree)
    return tree, folder / "tests" / "property" / f"libcounting_allocator-torch{minor}.so"


def records(tree, python):
    program, capture = WORK / "program.py", WORK / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    program.write_text(PROGRAM)
    run("record", tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", python, program)
    if "aten::ones" not in said(tree / "bin" / "memoir", "show", capture):
        raise Failed("the capture lacks aten::ones")


def tests(tree, allocator, python):
    """(passed, all, the names of what failed); skipped ones are not counted."""
    names = [line for line in (ROOT / "tests" / "every_torch.txt").read_text().splitlines() if line and not line.startswith("#")]
    report = WORK / "report.xml"
    report.unlink(missing_ok=True)
    try:
        run("tests", python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *(ROOT / "tests" / name for name in names),
            env={**os.environ, "TESTED_TREE": str(tree), "COUNTING_ALLOCATOR": str(allocator)})
    except Failed:
        if not report.exists():
            raise
    cases = [case for case in xml.etree.ElementTree.parse(report).iter("testcase") if case.find("skipped") is None]
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases) - len(failed), len(cases), failed


def examine(version, interpreter):
    row = dict.fromkeys(COLUMNS, "") | {"torch": version, "builds": "no", "records": "no"}
    try:
        python, row["Python"], row["torch"], row["CUDA"] = environment(version, interpreter)
        row["torch"] = row["torch"].split("+")[0]
        tree, allocator = build(python, ".".join(version.split(".")[:2]))
        row["builds"] = "yes"
        records(tree, python)
        row["records"] = "yes"
        passed, count, failed = tests(tree, allocator, python)
        row["tests passed"] = f"{passed} of {count}"
        row["remark"] = "fails: " + ", ".join(failed[:3]) if failed else ""
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


def main():
    parser = argparse.ArgumentParser(prog="./dev compat", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", metavar="VERSION", help="of torch, 2.6.0 or later, in full: 2.9.1")
    parser.add_argument("--python", default="python3", help="interpreter for the environment [python3]")
    parser.add_argument("--keep", action="store_true", help="leave build/compat/venv-VERSION")
    options = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+\.\d+", options.version):
        sys.exit(f"./dev compat {options.version}: write the version in full, as in 2.9.1")
    WORK.mkdir(parents=True, exist_ok=True)
    for log in WORK.glob("*.log"):
        log.unlink()
    row = examine(options.version, options.python)
    PAGE.write_text(write_row(PAGE.read_text(), row))
    if not options.keep:
        shutil.rmtree(WORK / f"venv-{options.version}", ignore_errors=True)
    print(" | ".join(f"{column} {row[column]}" for column in COLUMNS if row[column]))
    sys.exit(0 if fine(row) else 1)


if __name__ == "__main__":
    main()
