"""Tries faults on the installed tree: a forked child records while a fault is injected, and the capture is compared with the program's own count. Each try is
judged here, by three questions. Did the program end as it does without Memoir? Does the capture have every call that the program counted? If it has fewer, does
it or the recorder report it? The machine is not changed: file systems are mounted in a private namespace.
"""

import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
NOBODY = 65534
CLONE_NEWNS = 0x20000
MOST_SHOWN = 300
HANGS_AFTER = 300  # s: a machine may be busy, a hang is for ever
NOT_JUDGED = "not judged"  # a verdict: only whether the program was disturbed is asked


class NotHere(Exception):
    """The reason why this machine cannot try the fault."""


@dataclasses.dataclass
class Try:
    disturbed: str = ""  # how the program ended otherwise than without Memoir; "": as without
    verdict: str = "whole"  # or "said", "wrong", NOT_JUDGED
    lost: int = 0  # calls that the program counted and the capture lacks
    of: int = 0
    words: str = ""  # by which the loss was said, or what is wrong


class Lab:
    """The server with torch in it, a folder, and the tree under test."""

    def __init__(self, tree):
        self.tree, self.tries = pathlib.Path(tree), 0
        self.random = random.Random(21)
        self.can_mount = ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0 and subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True).returncode == 0
        self._folder = tempfile.TemporaryDirectory(prefix="memoir-reliability-", ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self._folder.name)
        self.folder.chmod(0o755)
        library = self.folder / "odd_calls.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "odd_calls.c"], check=True)
        environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(self.tree / "lib" / "memoir" / "python"), "PYTHONDONTWRITEBYTECODE": "1",
                       "OMP_NUM_THREADS": "1", "TMPDIR": str(self.folder)}
        self.server = subprocess.Popen([sys.executable, HERE / "server.py"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.server.stdin.close()
        self.server.wait()
        subprocess.run(["umount", "-l", *map(str, self.folder.glob("*/full*"))], capture_output=True)
        self._folder.cleanup()

    def new_folder(self):
        self.tries += 1
        folder = self.folder / f"{self.tries}"
        for name in ("", "here", "ring"):
            (folder / name).mkdir()
            (folder / name).chmod(0o777)
        return folder

    def mount(self, folder, kib):
        """A tmpfs of that size on `folder`."""
        if not self.can_mount:
            raise NotHere("mounting takes root, and a container that allows it")
        folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k,mode=777", "tmpfs", folder], check=True)

    @contextlib.contextmanager
    def far_files(self, milliseconds):
        """A folder with room for a capture, on a file system of far_files.py, and its process."""
        if not (self.can_mount and os.access("/dev/fuse", os.R_OK | os.W_OK)):
            raise NotHere("mounting by FUSE takes root, and a container that allows it")
        folder = self.new_folder()
        (folder / "full").mkdir()
        process = subprocess.Popen([sys.executable, HERE / "far_files.py", folder / "full", str(milliseconds)], stdout=subprocess.PIPE, text=True)
        try:
            if process.stdout.readline() != "ready\n":
                raise NotHere("FUSE is not allowed here")
            (folder / "full" / "capture").mkdir()
            (folder / "capture").symlink_to("full/capture")
            yield folder, process
        finally:
            subprocess.run(["umount", "-l", folder / "full"], capture_output=True)
            process.kill()
            process.wait()
            shutil.rmtree(folder, ignore_errors=True)

    def ask(self, folder, **case):
        case = {"record": True, "options": {"ring_size": "4MiB"}, "before": [], "during": [], "after": [], "program": "adds", "arguments": [5000], "first": 100, "flush": True,
                "kill_at": None, "hangs_after": HANGS_AFTER, "end": "stop", "folder": str(folder), **case}
        print(json.dumps(case), file=self.server.stdin, flush=True)
        return {**json.loads(self.server.stdout.readline()), "auto": case["options"].get("detail") == "auto"}

    def run(self, ends=("0",), live=0, keep=False, folder=None, **case):
        """One try of a fault; `live`: bytes that the capture must show as live at the end at least."""
        folder = folder or self.new_folder()
        answer = self.ask(folder, **case)
        result = self.judge(folder, answer, ends, live)
        if not keep:
            self.remove(folder)
        return result

    def run_beside_bare(self, **case):
        """One try of a fault that may end a program by itself: None where it does so without Memoir."""
        folder = self.new_folder()
        bare = self.ask(folder, record=False, **case)
        self.remove(folder)
        return self.run(**case) if bare["ended"] == "0" and bare["right"] else None

    def remove(self, folder):
        subprocess.run(["umount", "-l", *map(str, folder.glob("full*"))], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)

    def show(self, capture, *options):
        return subprocess.run([self.tree / "bin" / "memoir", "show", "--json", *options, capture], capture_output=True, text=True)

    def judge(self, folder, answer, ends, live):
        result = Try(of=answer["count"])
        said = answer["said"]
        lines = [answer["problem"]] * bool(answer["problem"]) + said
        if answer["ended"] not in ends or "raised" in answer:
            result.disturbed = f"ended {answer['ended']}: {answer.get('raised', '')}"
        elif answer["ended"] == "0" and not answer["right"]:
            result.disturbed = "another result"
        elif (folder / "theirs").exists() and (folder / "theirs").read_bytes() != b"theirs":
            result.disturbed = "its file was written to"
        elif any(not line.startswith("memoir: ") for line in said):
            result.disturbed = "not our words: " + " ".join(said)
        elif os.listdir(folder / "here"):
            result.disturbed = f"left behind: {os.listdir(folder / 'here')}"
        self.compare(folder, answer, live, lines, result)
        ring = folder / "ring"
        subprocess.run([self.tree / "libexec" / "memoir" / "memoir-drain", "--clean", ring], capture_output=True)  # where its capture is gone
        if ring.exists() and (left := [name for name in os.listdir(ring) if name.endswith(".ring") and not (ring / name).is_symlink()]):
            result.disturbed = result.disturbed or f"left behind: {left}"
        return result

    def compare(self, folder, answer, live, lines, result):
        shown = self.show(folder / "capture")
        if shown.returncode < 0:
            result.verdict, result.lost, result.words = "wrong", result.of, f"memoir show: signal {-shown.returncode}"
            return
        if shown.returncode != 0:
            result.lost, result.words = result.of, "; ".join(lines) or shown.stderr.strip()
            result.verdict = "said" if lines or answer["ended"].startswith("signal") else "wrong"  # the dead can't speak
            return
        report = json.loads(shown.stdout)
        adds = sum(row["count"] for row in report["operators"] if row["name"] == "aten::add.Tensor")
        most = result.of + (answer["ended"] != "0")  # a kill comes between a call and its count
        if answer.get("auto"):  # results of all calls are recorded, and operands of some
            adds = sum(device["allocations"] for device in report["devices"] if device["device"] == "cpu")
            most += 10 + result.of // 30
        live_at_end = sum(device["live_bytes_at_end"] for device in report["devices"] if device["device"] == "cpu")
        result.lost = max(result.of - adds, 0)
        words = losses(report) + lines
        result.words = "; ".join(words)
        if adds > most or (live_at_end < live and not words):
            result.verdict, result.words = "wrong", f"{adds} calls for {result.of}, {live_at_end} bytes live; {result.words}"
        elif words:
            result.verdict = "said"
        elif result.lost:
            result.verdict, result.words = "wrong", f"{adds} calls for {result.of}, and not a word"


def losses(report):
    """The losses that `memoir show` reports, each in a few words."""
    words = [f"{name} {report[name]}" for name in ("dropped_events", "lost_records", "lost_chunks") if report[name]]
    words += [f"{damage['file']}: {damage['what']}" for damage in report["damage"]]
    for process in report["processes"]:
        words += [f"{name} {process[name]}" for name in ("lost_events", "missing_parts", "last_write_error") if process[name]]
        words += [f"end {process['end']}: {process['end_message']}"] if process["end"] in ("failed", "unknown") else []
    return [word[:MOST_SHOWN] for word in words]
