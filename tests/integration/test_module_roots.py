"""Many roots, as programs have them that make modules all the time."""

from recording import run_explicit, show


def test_the_thousandth_root_costs_what_the_500th_does(tree, tmp_path):
    """Counted in lines of Memoir's Python, with roots that stay alive; the look for late modules in all of them ends some time."""
    done = run_explicit(tree, tmp_path, '''
import sys, memoir, torch
from torch import nn
def lines_of(call):
    count = 0
    def local(frame, event, argument):
        nonlocal count
        count += event == "line"
        return local
    sys.settrace(lambda frame, *_: local if "_module_names" in frame.f_code.co_filename else None)
    call()
    sys.settrace(None)
    return count
x = torch.ones(1)
memoir.start("capture")
from _torch_memoir.modules import _module_names
for kind in (nn.Identity, lambda: nn.Linear(1, 1)):
    roots = [kind() for _ in range(1000)]
    for root in roots[:500]:
        root(x)
    _module_names._LOOK_SECONDS = _module_names._LOOK_SHARE = 0.0
    earlier = lines_of(lambda: _module_names.resolve(roots[500]))  # as C calls it, where no trace function sees it
    for root in roots[500:-1]:
        root(x)
    thousandth = lines_of(lambda: _module_names.resolve(roots[-1]))
    roots[-1](x)
    assert 0 < thousandth <= earlier + 10, (earlier, thousandth)
    del roots, root
nn.Identity()(x)
memoir.stop()
''', cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["name"]: row["count"] for row in show(tree, tmp_path / "capture", "--by", "module")["modules"] if row["kind"] == "named"}
    assert rows.pop("Identity") == 2 and rows.pop("Linear") == 1  # the number of one that is gone is free again
    assert set(rows) == {f"{kind}#{n}" for kind in ("Identity", "Linear") for n in range(2, 1001)}
