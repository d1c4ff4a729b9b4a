"""./dev compat VERSION: Memoir with another torch, proven or not, as one row of docs/compatibility.md.

Makes an environment with torch VERSION from PyPI, builds the tracker for it, runs the tests that tests/every_torch.txt names with it, writes
the row and takes the environment away again (up to 5 GB; CUDA's libraries are links where build/venv or build/venv-2.15 has the same). A failure is
a row, too: the exit code is then 1.
"""

import argparse
import csv
import json
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


# What torch asks for and only loads late: not needed to import it, nor by the tests. 0.7 GB.
LATE = ("triton", "cuda-bindings", "cuda-pathfinder", "nvidia-cusolver", "nvidia-nvtx", "nvidia-cuda-cccl")


def environment(version, interpreter):
    """The interpreter of a new environment with that torch, and what there is to say of it: (path, Python, torch, CUDA)."""
    folder = WORK / f"venv-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    run("environment", interpreter, "-m", "venv", folder)
    python = folder / "bin" / "python"
    wanted = resolved(python, f"torch=={version}", "numpy", "pytest", "setuptools")
    late = [name for name in wanted if name.startswith(LATE)]
    install(python, {name: wanted[name] for name in wanted if name not in late})
    question = ("import sys, torch; print(*sys.version_info[:2], sep='.'); print(torch.__version__); print(torch.version.cuda)")
    try:
        facts = said(python, "-W", "ignore", "-c", question)
    except subprocess.CalledProcessError:
        install(python, {name: wanted[name] for name in late})
        facts = said(python, "-W", "ignore", "-c", question)
    return python, *facts.splitlines()


def pip(python, *arguments):
    run("environment", python, "-m", "pip", "--disable-pip-version-check", *arguments)


def resolved(python, *requirements):
    """{name: version} of everything that pip would install."""
    report = WORK / "resolved.json"
    pip(python, "install", "-q", "--dry-run", "--report", report, *requirements)
    found = [package["metadata"] for package in json.loads(report.read_text())["install"]]
    return {package["name"].lower().replace("_", "-"): package["version"] for package in found}


def install(python, packages):
    """NVIDIA's are links to those of build/venv*, where these have them in that version."""
    site = pathlib.Path(said(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    missing = [f"{name}=={version}" for name, version in packages.items() if not (name.startswith("nvidia-") and share(site, name, version))]
    if missing:
        pip(python, "install", "--no-deps", "--no-compile", "--progress-bar", "off", *missing)


def share(site, name, version):
    metadata = f"{name.replace('-', '_')}-{version}.dist-info"
    record = next((ROOT / "build").glob(f"venv*/lib/python*/site-packages/{metadata}/RECORD"), None)
    for path, *_ in csv.reader(record.read_text().splitlines()) if record else ():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        if not (site / path).exists():
            (site / path).symlink_to(record.parents[1] / path)
    return record is not None


def build(python, minor, folder):
    """An installed tree, and the allocator of tests/property. Without `folder`, which is taken as it was built, one build folder serves all versions,
    for only the tracker differs."""
    tree, parts = WORK / "tree", [f"counting_allocator-torch{minor}"]
    if folder is None:
        folder = ROOT / "build" / "compat-build"
        run("build", "cmake", "--preset", "dev", "-B", folder, f"-DMEMOIR_PYTHON={python}", "-DMEMOIR_OTHER_PYTHONS=", "-DMEMOIR_BUILD_TESTS=OFF")
        parts.append("all")
    run("build", "cmake", "--build", folder, "--parallel", os.cpu_count(), "--target", *parts)
    shutil.rmtree(tree, ignore_errors=True)
    run("build", "cmake", "--install", folder, "--prefix", tree)
    return tree, folder / "tests" / "property" / f"libcounting_allocator-torch{minor}.so"


def simulates(tree):
    """The simulated device is built where all its headers are: beside torches of CUDA 13 with what setup/requirements.txt names."""
    return (tree / "lib" / "memoir" / "libmemoir_simcuda.so").exists()


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
    if not simulates(tree):
        names = [name for name in names if not name.startswith("simulated/")]
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


def examine(version, interpreter, folder):
    row = dict.fromkeys(COLUMNS, "") | {"torch": version, "builds": "no", "records": "no"}
    try:
        python, row["Python"], row["torch"], row["CUDA"] = environment(version, interpreter)
        row["torch"] = row["torch"].split("+")[0]
        tree, allocator = build(python, ".".join(version.split(".")[:2]), folder)
        row["builds"] = "yes"
        records(tree, python)
        row["records"] = "yes"
        passed, count, failed = tests(tree, allocator, python)
        row["tests passed"] = f"{passed} of {count}"
        row["remark"] = "fails: " + ", ".join(failed[:3]) if failed else "" if simulates(tree) else "without the simulated device"
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
    parser.add_argument("--build", type=pathlib.Path, metavar="FOLDER",
                        help="take what was built there for that torch: build/dev for 2.11 and 2.15, with another Python [build anew]")
    parser.add_argument("--keep", action="store_true", help="leave build/compat/venv-VERSION")
    options = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+\.\d+", options.version):
        sys.exit(f"./dev compat {options.version}: write the version in full, as in 2.9.1")
    if shutil.which(options.python) is None or subprocess.run([options.python, "-c", ""], capture_output=True).returncode != 0:
        sys.exit(f"./dev compat: {options.python} does not run here; name an interpreter by its path (pyenv's shims only run versions that are switched on)")
    WORK.mkdir(parents=True, exist_ok=True)
    for log in WORK.glob("*.log"):
        log.unlink()
    row = examine(options.version, options.python, options.build and options.build.resolve())
    PAGE.write_text(write_row(PAGE.read_text(), row))
    if not options.keep:
        shutil.rmtree(WORK / f"venv-{options.version}", ignore_errors=True)
    print(" | ".join(f"{column} {row[column]}" for column in COLUMNS if row[column]))
    sys.exit(0 if fine(row) else 1)


if __name__ == "__main__":
    main()
