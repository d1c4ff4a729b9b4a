"""Judges the capture of a test by its budget, and names the owners of the memory. All figures come from the program `memoir`."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from typing import TYPE_CHECKING, Any

from _torch_memoir.captures import _capture, _program

if TYPE_CHECKING:
    import pathlib

    from _torch_memoir.pytest_plugin._mark import Budget

_UNLIKE = ("torch", "card", "GPU", "allocator", "ranks")  # differences of the machine, which may explain the figures
_ROWS = 5  # of a table in a message
_STEPS_OF_A_LEAK = 6  # with fewer, `memoir check leaks` reports that leaks are not known


class JudgementError(Exception):
    """The capture cannot show whether the budget was kept; the message says why, and names the fix."""


@dataclasses.dataclass
class Verdict:
    """The result of judging a budget."""

    exceeded: list[str] = dataclasses.field(default_factory=list)  # a paragraph each; its first line is short
    kept: list[str] = dataclasses.field(default_factory=list)
    figures: dict[str, int] = dataclasses.field(default_factory=dict)
    commands: list[str] = dataclasses.field(default_factory=list)  # commands that show more

    def add(self, exceeded: bool, line: str, *more: str) -> None:
        if exceeded:
            self.exceeded.append("\n".join([line, *more]))
        else:
            self.kept.append(line)


class Judge:
    """Judges one capture. Paths are shown relative to `root`."""

    def __init__(self, capture: pathlib.Path, budget: Budget, root: pathlib.Path) -> None:
        self._path, self._budget, self._root = capture, budget, root
        self._capture = _capture.load(capture)
        self._summary: Any = self._capture.show()
        self._devices = [one for one in self._summary.devices if budget.is_of(one.device)]

    def verdict(self, baseline: bool) -> Verdict:
        """Judges. `baseline`: also compares with the baseline."""
        verdict, budget = Verdict(), self._budget
        self._is_simulated()
        asked = {"peak": budget.peak, "reserved": budget.reserved, "ooms": budget.ooms, "baseline": budget.baseline}
        if any(one is not None for one in asked.values()) and not self._devices:
            raise JudgementError(self._no_device(next(name for name, one in asked.items() if one is not None)))
        if budget.peak is not None:
            self._size(verdict, "peak", "peak_allocated_bytes", budget.peak)
        if budget.reserved is not None:
            self._size(verdict, "reserved", "peak_reserved_bytes", budget.reserved)
        if budget.leaks is not None:
            self._leaks(verdict, budget.leaks)
        if budget.ooms is not None:
            self._ooms(verdict, budget.ooms)
        if baseline and budget.baseline is not None:
            self._baseline(verdict, budget.baseline)
        if not verdict.exceeded:  # missing events could only raise a figure
            self._is_whole()
        return verdict

    def check_baseline(self) -> None:
        """Checks that the capture can be kept as a baseline."""
        self._is_simulated()
        if not self._devices:
            raise JudgementError(self._no_device("baseline"))
        self._is_whole()

    def _no_device(self, asked: str) -> str:
        seen = ", ".join(sorted({one.device for one in self._summary.devices})) or "none"
        if self._budget.simulate:
            return f"the test put nothing on the simulated GPU, so its {asked} says nothing (devices: {seen})"
        return f'{asked} is that of {self._budget.device or "a GPU"}, and the test used none (devices: {seen}); device="sim:h100" simulates one, device="cpu" is the host'

    def _is_simulated(self) -> None:
        if self._budget.simulate and not all(one.simulated_device for one in self._summary.processes):
            raise JudgementError(f"a process of the test did not run on the simulated GPU that device={self._budget.device!r} asks for")

    def _is_whole(self) -> None:
        summary = self._summary
        lacks = [f"{summary[key]} {key.replace('_', ' ')}" for key in ("dropped_events", "lost_records", "lost_chunks") if summary[key]]
        lacks += [f"{one.file}: {one.what}" for one in summary.damage]
        lacks += [f"the recording of process {one.pid} ended: {one.end_message}" for one in summary.processes if one.end == "failed"]
        lacks += [f"{one.pid}: {more.what} from {more.begin_ns / 1e9:.3f} s on: {more.why}" for one in summary.processes for more in one.get("unrecorded", []) if more.what == "cuda_memory"]
        if lacks:
            raise JudgementError("the recording is not whole, so the figures may be too low: " + "; ".join(lacks))

    def _size(self, verdict: Verdict, name: str, key: str, allowed: int) -> None:
        device = max(self._devices, key=lambda one: one[key] or 0)
        if device[key] is None:
            raise JudgementError(f"{name} of {device.device} is not known")
        taken = int(device[key])
        verdict.figures[f"memoir_{name}_bytes"] = taken
        if taken <= allowed:
            verdict.add(False, f"{name} {size(taken)} of {size(allowed)} on {device.device}")
            return
        line = f"{name} {size(taken)} on {device.device}, {size(taken - allowed)} over the budget of {size(allowed)}"
        verdict.add(True, line, self._reached(device), *self._live(device, "module"), *self._live(device, "line"))
        verdict.commands.append(self._command("show", "--by", "category,line"))

    def _reached(self, device: Any) -> str:
        where = device.peak_line and f" at {self._line(device.peak_line)}"
        step = "" if device.peak_step is None else f", step {device.peak_step}"
        return f"the peak was reached in {device.peak_operator or 'no operator'}{where or ''}{step}"

    def _live(self, device: Any, by: str) -> list[str]:
        options = {} if device.rank is None else {"rank": device.rank}
        answer: Any = self._capture.show(by=by, at="peak", device=device.device, **options)
        found = next((one for one in answer.devices if one.process == device.process), None)
        if found is None or not found.live_bytes:
            return []
        rows = sorted(found[f"{by}s"], key=lambda one: -one.bytes)
        names = [self._line(one) if one.get("file") else one.name for one in rows]
        text = [f"live at the peak, by {by}:"]
        text += [f"  {size(row.bytes):>10}  {row.bytes / found.live_bytes:6.1%}  {name}" for row, name in list(zip(rows, names, strict=True))[:_ROWS]]
        rest = sum(one.bytes for one in rows[_ROWS:])
        return text if not rest else [*text, f"  {size(rest):>10}  {rest / found.live_bytes:6.1%}  {len(rows) - _ROWS} others"]

    def _leaks(self, verdict: Verdict, allowed: int) -> None:
        found: Any = self._capture.check("leaks")
        if found.step_source is None or found.steps < _STEPS_OF_A_LEAK:
            seen = f"only {found.steps} steps were seen" if found.step_source else "no steps were seen"
            raise JudgementError(f"leaks: {seen}, and a leak shows from {_STEPS_OF_A_LEAK} on; let the test take more, by memoir.step() or by an optimizer's")
        leaks = [one for one in found.leaks if self._budget.device is None or self._budget.is_of(one.device)]
        verdict.figures["memoir_leaks"] = len(leaks)
        places = "1 place keeps" if len(leaks) == 1 else f"{len(leaks)} places keep"
        if len(leaks) <= allowed:
            verdict.add(False, f"{len(leaks)} leaks of {allowed}")
            return
        text = []
        for leak in leaks[:_ROWS]:
            where = self._line(leak) if leak.file else leak.module or leak.operator or "(no operator)"
            category = f", {leak.category}" if leak.category else ""
            text.append(f"  {where}: {size(leak.bytes_per_step)} a step since step {leak.since_step}, {size(leak.bytes)} by now, {leak.device}{category}")
            text += [f"    kept by {leak.holder}"] if leak.holder else []
        verdict.add(True, f"leaks: {places} more in every step, the budget is {allowed}", *text)
        verdict.commands.append(self._command("check", "leaks"))

    def _ooms(self, verdict: Verdict, allowed: int) -> None:
        found: Any = self._capture.check("oom")
        errors = [one for one in found.out_of_memory if self._budget.is_of(one.device)]
        count = max(len(errors), sum(int(one.get("num_ooms") or 0) for one in self._devices))
        verdict.figures["memoir_ooms"] = count
        if count <= allowed:
            verdict.add(False, f"{count} out-of-memory errors of {allowed}")
            return
        text = []
        for one in errors[:_ROWS]:
            where = f" at {self._line(one.line)}" if one.line else ""
            text.append(f"  {one.operator or one.library or 'outside of any operator'}{where} asked {one.device} for {size(one.asked_bytes)}, with {size(one.allocated_bytes)} allocated")
        verdict.add(True, f"{count} out-of-memory error{'s' * (count != 1)}, the budget is {allowed}", *text)
        verdict.commands.append(self._command("check", "oom"))

    def _baseline(self, verdict: Verdict, baseline: pathlib.Path) -> None:
        output, _, _ = _program.run(["diff"], {"json": True}, [str(baseline), str(self._path)])
        found = json.loads(output)
        devices = [one for one in found["devices"] if self._budget.is_of(one["device"])]
        grown = [one for one in devices if one["b"] is not None]
        if not grown or any(one["peak_difference_bytes"] is None for one in grown):
            only = ", ".join(sorted({one["device"] for one in devices if one["a"] is None or one["b"] is None})) or "no device"
            raise JudgementError(f"baseline {self._short(baseline)} and this test have no common device to compare ({only} is in one of them alone); update the baseline")
        unlike = [f"unlike: {one['what']} {one['a'] or 'none'} in the baseline, {one['b'] or 'none'} here" for one in found["unlike"] if one["what"] in _UNLIKE]
        worst = max(grown, key=lambda one: one["peak_difference_bytes"] - self._budget.allowance(one["a"]["peak_allocated_bytes"]))
        before, more = int(worst["a"]["peak_allocated_bytes"]), int(worst["peak_difference_bytes"])
        verdict.figures["memoir_baseline_difference_bytes"] = more
        allowance = self._budget.allowance(before)
        if more <= allowance:
            verdict.add(False, f"peak {size(before + more)}, {signed(more)} against baseline {self._short(baseline)}")
            verdict.kept += unlike
            return
        share = f", {more / before:+.1%}" if before else ""
        line = f"peak {size(before + more)} on {worst['device']}, {signed(more)} against baseline {self._short(baseline)} ({size(before)}{share}; allowed: {size(allowance)} more)"
        rows = [row for row in worst["rows"] if row["difference_bytes"]]
        rows.sort(key=lambda row: -row["difference_bytes"])
        text = [f"  {signed(row['difference_bytes']):>11}  {self._line(row) if row.get('file') else row['name']} ({row['state']})" for row in rows[:_ROWS]]
        verdict.add(True, line, *unlike, found["headline"], *text)
        verdict.commands.append(shlex.join(["memoir", "diff", str(baseline), str(self._path)]))

    def _command(self, *words: str) -> str:
        return shlex.join(["memoir", *words, str(self._path)])

    def _line(self, line: Any) -> str:
        return f"{self._short(line['file'])}:{line['line']} {line['function'] or ''}".rstrip()

    def _short(self, path: str | pathlib.Path) -> str:
        inside = os.path.relpath(path, self._root)
        return str(path) if inside.startswith(os.pardir) else inside


def size(count: int) -> str:
    """Returns bytes as text, in the form of the command line."""
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(amount) < 1024:
            break
        amount, unit = amount / 1024, larger
    if unit == "B":
        return f"{count} B"
    return f"{amount:.{2 if unit in ('GiB', 'TiB') and abs(amount) < 9.995 else 1}f} {unit}"


def signed(count: int) -> str:
    """A difference of bytes: "+1.5 MiB", "no difference"."""
    return f"{'+' if count > 0 else '-'}{size(abs(count))}" if count else "no difference"
