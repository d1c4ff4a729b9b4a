"""Builds one commit in two folders and compares the results byte for byte: python setup/reproducible.py.

    python setup/reproducible.py            # the interposer and a wheel of the Python package, a minute
    python setup/reproducible.py --wheel    # dist/memoir-*.whl as it is shipped, twice: an hour
    python setup/reproducible.py --against dist/memoir-*.whl    # built once more, and compared with one that `./dev wheel --torches none` made of this commit

Two clones of HEAD, in folders whose names have other lengths, are built without a compiler cache, and differences are listed. Exit code 1: there are
differences.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def commit_time(root):
    """Seconds since 1970; where there is no repository 1980, with which zip's time begins."""
    done = subprocess.run(["git", "-C", root, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 and done.stdout.strip() else "315532800"


def variables(root):
    """The environment of a build: no file has the build's time. That none names a folder is CMake's part (Targets.cmake). The locale is left as it is:
    nothing that is built depends on it, and a compiler cache would know nothing in another one."""
    return {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or commit_time(root), "PYTHONHASHSEED": "0", "TZ": "UTC"}


def digests(path):
    """{name: sha256} of a wheel's members with their times and modes, of a folder's files, or of a file."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return {member.filename: f"{hashlib.sha256(archive.read(member)).hexdigest()} {member.date_time} {member.external_attr:o}"
                    for member in archive.infolist()}
    files = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    return {str(item.relative_to(path)) if item != path else item.name: hashlib.sha256(item.read_bytes()).hexdigest() for item in files}


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def clone(folder):
    """Clones HEAD, with links to the files outside of git that a build needs."""
    run("git", "clone", "-q", "--no-hardlinks", ROOT, folder)
    (folder / "build").mkdir(exist_ok=True)
    for name in ("build/venv", "build/venv-2.15", "build/sysroot", "tools/web/node_modules"):
        if (ROOT / name).exists() and not (folder / name).exists():
            (folder / name).symlink_to((ROOT / name).resolve())
    return folder


def build_part(folder):
    """The interposer's library, and a wheel of the Python package: a compiler, a linker, an archive and a zip."""
    environment = {**os.environ, **variables(folder), "CCACHE_DISABLE": "1"}
    build = folder / "build" / "twice"
    sysroot = folder / "build" / "sysroot"    # ./dev wheel makes it
    run("cmake", "-S", folder, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DMEMOIR_BUILD_TESTS=OFF", "-DMEMOIR_BUILD_TOOLS=OFF",
        "-DMEMOIR_BUILD_TRACKER=OFF", f"-DMEMOIR_OLD_SYSROOT={sysroot if sysroot.exists() else ''}", env=environment)
    run("cmake", "--build", build, "--target", "memoir_interpose", env=environment)
    unpacked = folder / "build" / "unpacked"
    shutil.copytree(folder / "python" / "memoir", unpacked / "memoir", ignore=shutil.ignore_patterns("__pycache__"))
    library, = build.rglob("libmemoir_interpose.so")
    shutil.copy2(library, unpacked / "memoir")
    information = unpacked / "memoir-0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: memoir\nVersion: 0\n")
    (information / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: memoir\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n")
    import build_wheel
    (folder / "dist").mkdir()
    build_wheel.wheel_tool(folder / "build", "pack", "-d", folder / "dist", unpacked, root=folder)
    return next((folder / "dist").glob("*.whl"))


def build_whole(folder):
    """With CCACHE_BASEDIR the compiler is given other paths, which torch's assertions keep: so both builds have it, and this one compiles all anew."""
    cache = {"CCACHE_BASEDIR": str(folder), "CCACHE_RECACHE": "1"} if "CCACHE_BASEDIR" in os.environ else {"CCACHE_DISABLE": "1"}
    others = ";".join(str(folder / name / "bin/python") for name in ("build/venv-2.15",) if (folder / name).exists())
    environment = {**os.environ, **cache}
    run(folder / "build/venv/bin/python", folder / "setup/build_wheel.py", others, "-o", folder / "dist", env=environment)
    return next((folder / "dist").glob("*.whl"))


def compare(one, other):
    """Says what differs; 0: nothing."""
    found = [digests(wheel) for wheel in (one, other)]
    names = sorted(name for name in found[0].keys() | found[1].keys() if found[0].get(name) != found[1].get(name))
    for name in names:
        print(f"differs: {name}")
    equal = not names and one.read_bytes() == other.read_bytes()
    print(f"{one.name}: {len(found[0])} files, " + (f"equal: sha256 {hashlib.sha256(one.read_bytes()).hexdigest()}" if equal else "not equal"))
    return 0 if equal else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", action="store_true", help="the whole wheel, as it is shipped")
    parser.add_argument("--against", type=pathlib.Path, metavar="WHEEL", help="the whole wheel, once: is it this one?")
    options = parser.parse_args()
    if options.against and not zipfile.is_zipfile(options.against):
        sys.exit(f"{options.against} is no wheel; ./dev wheel --torches none makes one")
    build = build_whole if options.wheel or options.against else build_part
    with tempfile.TemporaryDirectory(prefix="memoir-twice-") as work:
        other = build(clone(pathlib.Path(work) / "another-folder" / "of-a-longer-name"))
        return compare(options.against or build(clone(pathlib.Path(work) / "a")), other)


if __name__ == "__main__":
    sys.exit(main())
