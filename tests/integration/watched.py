"""A program that is recorded while a test watches it with memoir live, on a terminal or without."""

import contextlib
import fcntl
import os
import pathlib
import pty
import select
import struct
import subprocess
import sys
import termios
import time

# Goes on until somebody makes the file "done"; keeps a tensor more in each step where it is asked to.
TRAINS = """
import os, sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256))
optimizer = torch.optim.AdamW(model.parameters())
kept = []
end = time.time() + 1500
while not os.path.exists(sys.argv[1]) and time.time() < end:
    loss = model(torch.randn(64, 256)).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if "leak" in sys.argv:
        kept.append(torch.zeros(1 << 18))
    time.sleep(0.01)
print("trained to the end")
"""


class Training:
    """A program under `memoir run`."""

    def __init__(self, tree, folder, *arguments, source=TRAINS, options=(), environment=None):
        self.tree, self.done, self.capture = tree, folder / "done", folder / "capture"
        (folder / "train.py").write_text(source)
        command = [tree / "bin" / "memoir", "run", "-q", "-o", self.capture, *options, "--", sys.executable, folder / "train.py", self.done, *arguments]
        self.process = subprocess.Popen(list(map(str, command)), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        wait_until(lambda: self.process.poll() is not None or any(self.capture.glob("*.memoir")) and max(part.stat().st_size for part in self.capture.glob("*.memoir")) > 4096)

    def live(self, *arguments, what=None, **more):
        """Runs to its end."""
        command = [self.tree / "bin" / "memoir", "live", *arguments, what or self.capture]
        return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, **more)

    def watch(self, *arguments):
        """Lines of JSON as they come."""
        command = [self.tree / "bin" / "memoir", "live", "--json", "--interval", "0.3", *arguments, self.capture]
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @property
    def pid(self):
        return int(pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0])

    def finish(self):
        self.done.touch()
        output, errors = self.process.communicate(timeout=250)
        return output, errors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.finish()


def wait_until(holds, seconds=150, state=lambda: ""):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited in vain: {state()}"
        time.sleep(0.05)


class OnTerminal:
    """memoir live on a pseudo-terminal."""

    def __init__(self, training, columns):
        self.controller, self.terminal = pty.openpty()
        self.resize(24, columns)
        self.before = termios.tcgetattr(self.terminal)
        environment = {**os.environ, "TERM": "xterm"}
        self.live = subprocess.Popen([training.tree / "bin" / "memoir", "live", training.capture], stdin=self.terminal, stdout=self.terminal,
                                     stderr=subprocess.PIPE, env=environment, start_new_session=True)
        self.output = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.controller], [], [], 0.1)[0]:
            self.output += os.read(self.controller, 65536).decode(errors="replace")
        return self.output

    def wait_for(self, text):
        wait_until(lambda: text in self.read(), state=lambda: f"no {text!r} in ...{self.output[-3000:]!r}")

    def key(self, key):
        os.write(self.controller, key.encode())

    def end(self):
        # The output is read meanwhile, or the terminal's buffer would be full.
        wait_until(lambda: self.read() is not None and self.live.poll() is not None)
        self.read()   # what it wrote between the last read and its end
        assert termios.tcgetattr(self.terminal) == self.before
        assert self.output.count("\x1b[?1049h") == self.output.count("\x1b[?1049l") == 1
        assert self.output.rindex("\x1b[?25h") > self.output.rindex("\x1b[?25l")
        os.close(self.controller)
        os.close(self.terminal)
        return self.live.returncode


@contextlib.contextmanager
def on_terminal(training, columns=80):
    terminal = OnTerminal(training, columns)
    try:
        terminal.wait_for("q quit")
        yield terminal
    finally:
        if terminal.live.poll() is None:
            terminal.live.kill()
