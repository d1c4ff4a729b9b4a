"""Prints messages on the terminal. An error of the terminal does not reach the program."""

from __future__ import annotations

import contextlib
import signal
import sys

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterator


def say(line: str) -> None:
    """Writes one line to standard error. Writes nothing if standard error is closed, full, or a broken pipe."""
    try:
        if sys.stderr is not None:  # print would use standard output instead
            with _write_signals_held():
                print(line, file=sys.stderr, flush=True)
    except Exception:
        pass


@contextlib.contextmanager
def _write_signals_held() -> Iterator[None]:
    """Blocks SIGPIPE and SIGXFSZ: with their default action, which the program may have restored, a failed write would end the process."""
    held = {signal.SIGPIPE, signal.SIGXFSZ} - signal.sigpending()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        while signal.sigtimedwait(held, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
