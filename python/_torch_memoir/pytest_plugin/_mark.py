"""The arguments of `@pytest.mark.memoir`: the device of the test, and its budget."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pathlib

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12} | {f"{letter}{end}": 2 ** (10 * power) for power, letter in enumerate("kmgt", 1) for end in ("ib", "")}


class MarkError(Exception):
    """An argument that has no meaning; the message names it, and the allowed values."""


@dataclasses.dataclass(frozen=True)
class Budget:
    """The arguments of a mark. None: not given. Sizes in bytes."""

    device: str | None
    peak: int | None
    reserved: int | None
    leaks: int | None
    ooms: int | None
    baseline: pathlib.Path | None
    tolerance: str | None  # as given; `allowance` returns bytes

    @property
    def simulate(self) -> list[str]:
        """Options of `memoir run` for the card of device="sim:CARD[:MEMORY]"."""
        if self.device is None or not self.device.startswith("sim:"):
            return []
        _, card, *memory = self.device.split(":")
        return ["--simulate", card, *(["--sim-memory", str(size(memory[0], "device"))] if memory else [])]

    def is_of(self, device: str) -> bool:
        """Whether the budget applies to `device`, cpu or cuda:0."""
        if self.device == "cpu":
            return device == "cpu"
        if self.device is not None and self.device.startswith("cuda:"):
            return device == self.device
        return device.startswith("cuda:")

    def allowance(self, bytes_of_baseline: int) -> int:
        """How much the peak may exceed the baseline's: nothing on the simulated device, where every run has the same figures; else 1 %."""
        text = self.tolerance if self.tolerance is not None else "0" if self.simulate else "1%"
        return int(bytes_of_baseline * float(text[:-1]) / 100) if text.endswith("%") else size(text, "tolerance")


def size(given: object, name: str) -> int:
    """Returns the bytes of a size that is given as 1024, "2 GiB" or "1.5GB"."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([A-Za-z]*)\s*", given) if isinstance(given, str) else None
    if found is not None and found[2].lower() in _UNITS:
        return int(float(found[1]) * _UNITS[found[2].lower()]) if "." in found[1] else int(found[1]) * _UNITS[found[2].lower()]
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    raise MarkError(f'{name}={given!r} is no size; write bytes, or such as "2 GiB" or "1.5GB"')


def budget(arguments: dict[str, Any], test_file: pathlib.Path, test: str) -> Budget:
    """The budget of a test in `test_file`; `test` replaces {test} in the baseline's path."""
    given = dict(arguments)
    known = [field.name for field in dataclasses.fields(Budget)]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise MarkError(f"unknown argument {', '.join(unknown)}; there are {', '.join(known)}")
    taken = {name: given.get(name) for name in known}
    device, tolerance, baseline = _device(taken["device"]), _tolerance(taken["tolerance"]), taken["baseline"]
    if device == "cpu" and taken["reserved"] is not None:
        raise MarkError('reserved is a figure of a GPU; device="cpu" has none')
    if tolerance is not None and baseline is None:
        raise MarkError("tolerance is that of a baseline, and there is none")
    return Budget(
        device=device,
        peak=None if taken["peak"] is None else size(taken["peak"], "peak"),
        reserved=None if taken["reserved"] is None else size(taken["reserved"], "reserved"),
        leaks=_number(taken["leaks"], "leaks"),
        ooms=_number(taken["ooms"], "ooms"),
        baseline=None if baseline is None else test_file.parent / str(baseline).replace("{test}", test),
        tolerance=tolerance,
    )


def _device(given: object) -> str | None:
    if given is None or (isinstance(given, str) and re.fullmatch(r"cpu|cuda(:\d+)?|sim:[\w-]+(:[\d.]+ ?[A-Za-z]*)?", given)):
        return given
    raise MarkError(f'device={given!r} is none; write "sim:h100", "sim:h100:40GiB", "cuda", "cuda:1" or "cpu"')


def _tolerance(given: object) -> str | None:
    if given is None:
        return None
    if isinstance(given, str) and re.fullmatch(r"\s*\d+(\.\d+)?\s*%\s*", given):
        return given.replace(" ", "")
    return str(size(given, "tolerance"))


def _number(given: object, name: str) -> int | None:
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given >= 0):
        return given
    raise MarkError(f"{name}={given!r} is no number of {name}; write 0 or more")
