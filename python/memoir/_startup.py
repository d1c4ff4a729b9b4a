"""Start-up inside a program that knows nothing of Memoir: torch's import ends here, and recording starts if the environment asks."""

import os

from memoir import _processes

_OFF = {"", "0", "false", "off", "no"}


def from_torch():
    if os.environ.get("MEMOIR_ENABLE", "").lower() not in _OFF:
        _processes.guarded(_take_part)


def _take_part():
    import torch
    from memoir import _recording

    version = torch.__version__
    part = _processes.part(lambda: _processes.guarded(_take_part))
    if part == _processes.RECORDS:
        _recording.start_by_environment(version)
    elif part == _processes.WAITS:
        _recording.watch_by_environment(version)
