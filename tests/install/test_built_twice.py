"""Two builds of one commit, in two folders, are equal byte for byte; and a path that got in would be seen."""

import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "setup"))

import reproducible


def test_two_builds_are_equal():
    if subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True).returncode != 0:
        pytest.skip("not a clone: there is no commit to build twice")
    done = subprocess.run([sys.executable, ROOT / "setup" / "reproducible.py"], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0 and ", equal: sha256 " in done.stdout, done


def compiled(folder, flags):
    folder.mkdir(parents=True)
    (folder / "a.c").write_text("const char *path = __FILE__;\nint f(int x) { return x + 1; }\n")
    subprocess.run(["cc", "-g", *flags.split(), "-shared", "-o", folder / "a.so", folder / "a.c"], cwd=folder, check=True)
    return (folder / "a.so").read_bytes()


def test_the_folder_is_seen_without_the_flags_and_not_with_them(tmp_path):
    short, long = tmp_path / "a", tmp_path / "another" / "longer"
    assert compiled(short / "1", "") != compiled(long / "1", "")
    flag = re.search(r"-ffile-prefix-map=[^\"]+", (ROOT / "cmake" / "Targets.cmake").read_text()).group()
    with_flags = [compiled(folder / "2", flag.replace("${CMAKE_SOURCE_DIR}", str(folder / "2"))) for folder in (short, long)]
    assert with_flags[0] == with_flags[1] and str(tmp_path).encode() not in with_flags[0]


def test_members_are_compared_with_their_times(tmp_path):
    for name, second in (("a", 0), ("b", 2)):
        with zipfile.ZipFile(tmp_path / f"{name}.whl", "w") as archive:
            archive.writestr(zipfile.ZipInfo("m.py", (2026, 1, 1, 0, 0, second)), "x = 1\n")
    assert reproducible.digests(tmp_path / "a.whl") != reproducible.digests(tmp_path / "b.whl")
    assert reproducible.digests(tmp_path / "a.whl") == reproducible.digests(tmp_path / "a.whl")
