"""./dev compat and the environments of ./dev wheel --all-torches, without PyPI: what they leave, choose, write and refuse."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "setup"))

import compat  # noqa: E402
import torches  # noqa: E402

PAGE = "\n".join(["before", "", "| torch | Python | CUDA | builds | records | tests passed | remark |", "|---|---|---|---|---|---|---|",
                  "| 2.9.1 | 3.10 | 12.8 | yes | yes | 1 of 1 |  |", "", "after", ""])


def row(torch, passed, python="3.11"):
    return dict.fromkeys(compat.COLUMNS, "") | {"torch": torch, "Python": python, "tests passed": passed}


def whole_environment(folder, version):
    site = folder / "lib" / "python3.11" / "site-packages"
    for path in ("torch/include/torch/version.h", "torch/lib/libc10.so", "torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so", "torch/nn/__init__.py",
                 f"torch-{version}.dist-info/RECORD", "nvidia/cudnn/lib/libcudnn.so.9", "numpy/__init__.py", "six.py"):
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).touch()
    (site / "torch" / "__init__.py").touch()
    (site / "torch" / "version.py").write_text(f"__version__ = '{version}+cu128'\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").touch()
    (folder / "whole").touch()
    return site


def test_a_part_has_what_is_linked_with(tmp_path):
    site = whole_environment(tmp_path, "2.9.1")
    torches.reduce(tmp_path)
    left = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert left == {"torch/include/torch/version.h", "torch/lib/libc10.so", "torch/lib/libtorch_cpu.so", "torch/__init__.py", "torch/version.py",
                    "torch-2.9.1.dist-info/RECORD"}
    assert torches.version_in(tmp_path) == "2.9.1" and not (tmp_path / "whole").exists()


def test_existing_ones_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(torches, "FOLDER", tmp_path)
    for version in ("2.10.0", "2.6.0"):
        (tmp_path / torches.minor(version)).mkdir()
        whole_environment(tmp_path / torches.minor(version), version)
    (tmp_path / "2.7").mkdir()   # one that was not finished
    assert list(torches.existing()) == ["2.6", "2.10"]


def test_what_a_wheel_is_made_for(tmp_path, monkeypatch):
    monkeypatch.setattr(torches, "FOLDER", tmp_path)
    monkeypatch.setattr(torches, "of_tests", lambda version: None)
    made = []
    monkeypatch.setattr(torches, "make_part", lambda version, interpreter, log: made.append(version))
    assert list(torches.chosen(["2.6", "2.9.0"], "python3", None)) == ["2.6", "2.9"] and made == ["2.6.0", "2.9.0"]
    assert list(torches.chosen(["all"], "python3", None)) == [torches.minor(version) for version in torches.LAST]
    with pytest.raises(ValueError, match="2.5 is no version of torch; these are known: 2.6.0, "):
        torches.chosen(["2.5"], "python3", None)


def test_all_goes_on_after_a_failure_and_says_so(tmp_path, monkeypatch, capsys):
    (tmp_path / "page.md").write_text(PAGE)
    monkeypatch.setattr(compat, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(compat, "WORK", tmp_path / "work")
    monkeypatch.setattr(torches, "FOLDER", tmp_path / "torches")
    monkeypatch.setattr(compat, "examine", lambda version, interpreter, folder, wheel: row(version, "1 of 2" if version == "2.7.1" else "2 of 2"))
    monkeypatch.setattr(sys, "argv", ["compat.py", "all", "2.9.1"])
    with pytest.raises(SystemExit) as ended:
        compat.main()
    assert str(ended.value).startswith(f"1 of {len(torches.LAST)} failed: 2.7.1; ")
    table = [line.split(" | ")[0].strip("| ") for line in (tmp_path / "page.md").read_text().splitlines() if line.startswith("| 2.")]
    assert table == ["2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.9.1", *torches.LAST[4:]]   # Python 3.10's stays
    assert len(capsys.readouterr().out.splitlines()) == len(torches.LAST)


@pytest.mark.parametrize("arguments, says", [(["2.9"], "write the version in full, as in 2.9.1"), (["2.9.1", "--python", "/nowhere/python"], "does not run here")])
def test_bad_input(arguments, says):
    done = subprocess.run([sys.executable, ROOT / "setup" / "compat.py", *arguments], capture_output=True, text=True)
    assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1
