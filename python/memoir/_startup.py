"""Start-up inside a program that knows nothing of Memoir: torch's import ends here, and recording starts if the environment asks."""

from __future__ import annotations

import os

from memoir import _processes
from memoir._terminal import say

_OFF = {"", "0", "false", "off", "no"}


def from_torch() -> None:
    _compute_values()  # first: nothing of it is in a recording
    if os.environ.get("MEMOIR_SIM_GPU"):
        _check_cuda()
    if os.environ.get("MEMOIR_SIM_WORLD"):
        _enter_world()
    if os.environ.get("MEMOIR_ENABLE", "").lower() not in _OFF:
        _processes.guarded(_take_part)


def _check_cuda() -> None:
    import torch

    if not torch.version.cuda and _processes.speaks():
        say(f"memoir: --simulate {os.environ['MEMOIR_SIM_GPU']}: torch {torch.__version__} is built without CUDA and sees no GPU, simulated or not; "
            "install one with it: pip install torch")


def _enter_world() -> None:
    from memoir import _world

    try:
        _world.enter()
    except Exception as problem:
        say(f"memoir: this process does not run as one rank of a simulated job: {problem}")


def _take_part() -> None:
    import torch

    from memoir import _recording

    version = torch.__version__
    part = _processes.part(_recording.followed, lambda: _processes.guarded(_take_part))
    if part == _processes.RECORDS:
        _recording.start_by_environment(version)
    elif part == _processes.WAITS:
        _recording.watch_by_environment(version)


def _compute_values() -> None:
    try:
        from memoir import _values

        if not _values.wanted():
            return
        import torch

        if torch.version.cuda:
            _values.start(torch.__version__)
    except Exception as problem:
        if _processes.speaks():
            say(f"memoir: the simulated GPU computes no values here, and every tensor holds zeros: {problem}")
