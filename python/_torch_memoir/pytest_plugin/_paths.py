"""The paths of the plug-in's captures, and of the files of a test's child."""

from __future__ import annotations

import hashlib
import pathlib
import re
import shutil
import tempfile

import pytest

_FOLDER = pytest.StashKey[pathlib.Path]()


class PathConflict(Exception):
    """A file that is not a capture is at the path for a capture."""


def name(nodeid: str) -> str:
    """A file name for a test: tests.test_model.py.TestStep.test_fits[8]. Other characters become _, and a hash keeps such names apart."""
    plain = nodeid.replace("::", ".").replace("/", ".")
    safe = re.sub(r"[^\w.=,+@\[\]-]", "_", plain, flags=re.ASCII)[:120].lstrip(".-")
    return safe if safe == plain else f"{safe}-{hashlib.sha256(nodeid.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def capture(config: pytest.Config, nodeid: str) -> pathlib.Path:
    """The path of a test's capture: in --memoir-dir, where it replaces the last one, or in pytest's folder of this run."""
    given = config.getoption("memoir_dir")
    folder = config.invocation_params.dir / given if given else _of_this_run(config) / "memoir"
    path: pathlib.Path = folder / name(nodeid)
    folder.mkdir(parents=True, exist_ok=True)
    remove(path)
    return path


def remove(path: pathlib.Path) -> None:
    """Removes a capture. If there is anything else at the path, raises and removes nothing."""
    may_be_replaced(path)
    if path.is_dir():
        shutil.rmtree(path)


def may_be_replaced(path: pathlib.Path) -> None:
    """Raises if the path exists and is not a capture."""
    files = list(path.iterdir()) if path.is_dir() and not path.is_symlink() else None
    # A folder of baselines may also contain names ending in .memoir, but these are folders.
    is_capture = files is not None and all(one.suffix == ".memoir" and one.is_file() and not one.is_symlink() for one in files)
    if not is_capture and (path.exists() or path.is_symlink()):
        raise PathConflict(f"{path} is there and is no capture; remove it, or choose another folder")


def scratch(config: pytest.Config, nodeid: str) -> pathlib.Path:
    """A new folder for the child of a test: its request, its reports, and the tmp_path of its tests. pytest removes it with the folders of older runs."""
    folder = _of_this_run(config) / "memoir-children"
    folder.mkdir(exist_ok=True)
    return pathlib.Path(tempfile.mkdtemp(dir=folder, prefix=name(nodeid)[:40] + "-"))


def _of_this_run(config: pytest.Config) -> pathlib.Path:
    if _FOLDER not in config.stash:
        factory = getattr(config, "_tmp_path_factory", None)  # what the fixture tmp_path_factory returns
        config.stash[_FOLDER] = pathlib.Path(factory.getbasetemp() if factory is not None else tempfile.mkdtemp(prefix="memoir-pytest-"))
    return config.stash[_FOLDER]
