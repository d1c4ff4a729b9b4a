"""The driver's wrapped functions have the same parameters in each version that a look-up can request, except those in look_ups.cc's table. A wrapper of the
wrong version passes wrong arguments on: on a card, the first torch.cuda.synchronize() of a recorded program failed.
"""

import pathlib
import re
import sysconfig

CUDA = pathlib.Path(__file__).resolve().parents[3] / "interpose" / "cuda"
LATER_SIZES = 3020


def wrapped():
    """By the names that cuGetProcAddress knows."""
    sources = "".join(path.read_text() for path in CUDA.glob("*_calls.cc")) + (CUDA / "look_ups.cc").read_text()
    return {re.sub(r"(_v\d)?(_ptsz)?$", "", name) for name in re.findall(r'Wrapped<"(cu[A-Z]\w*)"', sources) if not name.startswith(("cublas", "cuda", "cupti"))}


def versions():
    """By name, what each version takes; types by their names without a version, which are alike since LATER_SIZES."""
    (header,) = pathlib.Path(sysconfig.get_path("purelib")).glob("nvidia/*/include/cudaTypedefs.h")
    found = {}
    for name, version, stream, parameters in re.findall(r"\(CUDAAPI \*PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)\(([^;]*)\);", header.read_text().replace("\\\n", " ")):
        types = [re.sub(r"\s*\b\w+$", "", parameter.strip()) for parameter in parameters.split(",")]
        found.setdefault(name, {})[int(version), stream] = tuple(re.sub(r"_v\d+\b", "", kind) for kind in types)
    for of_name in found.values():   # no caller requests functions that CUDA 3.2 replaced
        first = max((version for version, _ in of_name if version <= LATER_SIZES), default=0)
        for key in [key for key in of_name if key[0] < first]:
            del of_name[key]
    return found


def test_others_take_the_same_in_all_versions():
    table = dict(re.findall(r'^ +\{"(cu\w+)", (\d+), ', (CUDA / "look_ups.cc").read_text(), re.MULTILINE))
    known, names = versions(), wrapped()
    assert len(known) > 300 and len(names & set(known)) > 30
    differ = {name: min(version for (version, _), types in known[name].items() if types != known[name][min(known[name])])
              for name in names & set(known) if len(set(known[name].values())) > 1}
    assert differ == {name: int(later) for name, later in table.items()}
