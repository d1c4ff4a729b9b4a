"""What the package says to the person at the terminal. Nothing that is wrong with the terminal reaches the program."""

from __future__ import annotations

import contextlib
import signal
import sys

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterator


def say(line: str) -> None:
    """One line on standard error; none where there is no standard error, or it takes none (closed, full, at the other end of a broken pipe)."""
    try:
        if sys.stderr is not None:  # print would take standard output instead
            with _write_signals_held():
                print(line, file=sys.stderr, flush=True)
    except Exception:
        pass


@contextlib.contextmanager
def _write_signals_held() -> Iterator[None]:
    """SIGPIPE and SIGXFSZ, where the program gave them back their own action, end a process that writes what is not taken."""
    held = {signal.SIGPIPE, signal.SIGXFSZ} - signal.sigpending()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        while signal.sigtimedwait(held, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
