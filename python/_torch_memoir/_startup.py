"""Runs at the end of torch's import in any program. Starts the recording that the environment requests."""

from __future__ import annotations

import os

from _torch_memoir._terminal import say
from _torch_memoir.processes import _processes

_OFF = {"", "0", "false", "off", "no"}


def from_torch() -> None:
    _compute_values()  # first, so that this work is not recorded
    if os.environ.get("MEMOIR_SIM_GPU"):
        _check_cuda()
    if os.environ.get("MEMOIR_SIM_WORLD"):
        _enter_world()
    if os.environ.get("MEMOIR_ENABLE", "").lower() not in _OFF:
        _processes.run_guarded(_take_role)


def _check_cuda() -> None:
    import torch

    if not torch.version.cuda and _processes.is_reporting_process():
        say(f"memoir: --simulate {os.environ['MEMOIR_SIM_GPU']}: torch {torch.__version__} is built without CUDA and sees no GPU, simulated or not; "
            "install one with it: pip install torch")


def _enter_world() -> None:
    from _torch_memoir.simulated import _world

    try:
        _world.enter()
    except Exception as problem:
        say(f"memoir: this process does not run as one rank of a simulated job: {problem}")


def _take_role() -> None:
    import torch

    from _torch_memoir import _recording

    version = torch.__version__
    role = _processes.process_role(_recording.process_callbacks, lambda: _processes.run_guarded(_take_role))
    if role == _processes.RECORDS:
        _recording.start_by_environment(version)
    elif role == _processes.WAITS:
        _recording.watch_by_environment(version)


def _compute_values() -> None:
    try:
        from _torch_memoir.simulated import _values

        if not _values.is_requested():
            return
        import torch

        if torch.version.cuda:
            _values.start(torch.__version__)
    except Exception as problem:
        if _processes.is_reporting_process():
            say(f"memoir: the simulated GPU computes no values here, and every tensor holds zeros: {problem}")
