"""Memoir's plug-in for pytest: budgets of memory (docs/ci.md).

    @pytest.mark.memoir(device="sim:h100", peak="2 GiB", leaks=0, baseline="main.memoir")
    def test_step(): ...

A marked test runs in a child process under `memoir run`; afterwards its capture is judged. pytest finds this module by the entry point group
`pytest11`; nothing else imports it.
"""

from __future__ import annotations

import pathlib
import shutil
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from _torch_memoir.captures import _program
from _torch_memoir.pytest_plugin import _child, _child_plugin, _fixture, _judgement, _mark, _paths

if TYPE_CHECKING:
    from collections.abc import Iterator

memoir_capture = _fixture.memoir_capture

_WRITTEN = pytest.StashKey[set[pathlib.Path]]()
_SECTION = "memoir"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("memoir", "budgets of memory (memoir)")
    group.addoption("--memoir-dir", metavar="DIR", help="folder for the captures of marked tests, the last one of each test (default: with pytest's temporary files)")
    group.addoption("--memoir-baseline-update", action="store_true", help="write the baselines of marked tests that pass")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "memoir(device=None, peak=None, reserved=None, leaks=None, ooms=None, baseline=None, tolerance=None): run the test in a process of its own under "
        '`memoir run`, on a simulated GPU with device="sim:h100", and fail it where it takes more memory than that',
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Called by xdist: passes pytest's arguments to a worker, which does not have them."""
    node.workerinput["memoir_arguments"] = [str(one) for one in node.config.invocation_params.args]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    plainly = item.config.pluginmanager.hasplugin(_child_plugin.NAME) or item.config.getoption("setuponly", False) or item.get_closest_marker("skip")
    if plainly or not item.get_closest_marker("memoir"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in [*_reports(item), *_tear_down(item, nextitem)]:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter: Any) -> None:
    written = {one for reports in terminalreporter.stats.values() for report in reports for one in getattr(report, "memoir_baselines", [])}
    if written:
        terminalreporter.section("memoir")
        for line in sorted(written):
            terminalreporter.line(f"wrote baseline {line}")


def _reports(item: pytest.Item) -> list[pytest.TestReport]:
    """The reports of the test's child, judged by its budget; an error instead if there is no result."""
    wrong = (_mark.MarkError, _paths.PathConflict, _child.RecordingError, _judgement.JudgementError, _program.CaptureError, pytest.fail.Exception, OSError)
    try:
        budget = _budget(item)
        _needs_baseline(item, budget)
        ended = _child.run_test(item, budget.simulate)
        reports = _of_child(item, ended)
        _judge(item, budget, ended, reports)
        return reports
    except wrong as problem:
        return [_failed(item, "setup", f"memoir: {problem}")]


def _budget(item: pytest.Item) -> _mark.Budget:
    arguments: dict[str, Any] = {}
    for mark in item.iter_markers("memoir"):  # the closest one first, then marks of the class and the module
        if mark.args:
            raise _mark.MarkError(f"the mark takes arguments by name alone, not {mark.args[0]!r}")
        arguments = {**mark.kwargs, **arguments}
    file, _, test = item.nodeid.partition("::")  # a test's parameters may have slashes
    return _mark.budget(arguments, item.path, _paths.name(file.rpartition("/")[2] + "::" + test))


def _needs_baseline(item: pytest.Item, budget: _mark.Budget) -> None:
    if budget.baseline is None:
        return
    if item.config.getoption("memoir_baseline_update"):
        _paths.may_be_replaced(budget.baseline)
    elif not budget.baseline.exists():
        raise _judgement.JudgementError(f"there is no baseline {budget.baseline}; to make it: pytest --memoir-baseline-update '{item.nodeid}'")


def _of_child(item: pytest.Item, ended: _child.ChildResult) -> list[pytest.TestReport]:
    """The reports of the child. A report that is missing, because the child was killed, becomes a failure."""
    hook = item.config.hook
    for one in ended.values_of("warning"):
        _warn(item, one)
    reports: list[pytest.TestReport] = [hook.pytest_report_from_serializable(config=item.config, data=_with_tuples(one)) for one in ended.values_of("report")]
    if any(report.when == "teardown" for report in reports):
        return reports
    for name, words in (("not_collected", "cannot import the test"), ("internal_error", "pytest failed")):
        if ended.values_of(name):
            raise _child.RecordingError(f"in the test's process, {words}:\n" + "\n".join(map(str, ended.values_of(name))))
    if ended.values_of("not_found"):
        found = ", ".join(ended.values_of("not_found")[0]) or "none"
        raise _child.RecordingError(f"the test's process did not find the test, but {found}; the tests of a file must be the same in every process")
    phase = "call" if any(report.when == "setup" and report.passed for report in reports) else "setup"
    if not reports and not ended.values_of("finished") and ended.code in (1, 2, 3, 4):
        raise _child.RecordingError(f"the test's process {ended.end} before the test began:\n{ended.tail}")
    failed = _failed(item, phase, f"memoir: the test's process {ended.end}; its last lines:\n{ended.tail}" if ended.tail else f"memoir: the test's process {ended.end}")
    return [*(report for report in reports if report.when == "setup" and phase == "call"), failed]


def _with_tuples(report: dict[str, Any]) -> dict[str, Any]:
    """The report with the tuples that JSON turned into lists: plug-ins check their type."""
    skipped = {"longrepr": tuple(report["longrepr"])} if isinstance(report.get("longrepr"), list) else {}
    pairs: dict[str, Any] = {name: list(map(tuple, report[name])) for name in ("sections", "user_properties") if name in report}
    return {**report, "location": tuple(report["location"]), **pairs, **skipped}


def _judge(item: pytest.Item, budget: _mark.Budget, ended: _child.ChildResult, reports: list[pytest.TestReport]) -> None:
    """Changes the report of the call if the budget is exceeded. A test that failed by itself, or was skipped, is not judged."""
    call = next((report for report in reports if report.when == "call"), None)
    unexpected = call is not None and call.failed and isinstance(call.longrepr, str) and call.longrepr.startswith("[XPASS(strict)]")
    kept = f"capture: {ended.capture}"
    if call is not None and call.failed and not unexpected and ended.capture.exists():
        call.sections.append((_SECTION, kept))
    if call is None or not (call.passed or unexpected) or any(report.failed for report in reports if report is not call):
        return
    if not ended.capture.exists():
        raise _child.RecordingError(f"there is no capture of the test:\n{ended.memoir_lines}")
    judge = _judgement.Judge(ended.capture, budget, item.config.rootpath)
    updates = bool(item.config.getoption("memoir_baseline_update"))
    verdict = judge.verdict(baseline=not updates)
    for report in reports:
        if report.when != "setup":  # pytest's XML file takes properties from the report of the teardown
            report.user_properties += list(verdict.figures.items())
    if updates and budget.baseline is not None and not verdict.exceeded:
        judge.check_baseline()
        call.memoir_baselines = [_write_baseline(item, ended.capture, budget.baseline)]  # type: ignore[attr-defined]  # for pytest_terminal_summary
    if verdict.exceeded:
        text = "\n\n".join([*verdict.exceeded, "\n".join([kept, *(f"  {one}" for one in verdict.commands)])])
        _exceeded(item, call, text, unexpected)
    else:
        call.sections.append((_SECTION, "\n".join([*verdict.kept, kept])))


def _exceeded(item: pytest.Item, call: pytest.TestReport, text: str, unexpected: bool) -> None:
    if unexpected or hasattr(call, "wasxfail"):  # marked xfail: the failure is expected
        call.wasxfail = getattr(call, "wasxfail", str(call.longrepr).removeprefix("[XPASS(strict)] "))
        call.outcome = "skipped"
    else:
        call.outcome = "failed"
    call.longrepr = _failure(text)


def _write_baseline(item: pytest.Item, capture: pathlib.Path, baseline: pathlib.Path) -> str:
    written = item.config.stash.setdefault(_WRITTEN, set())
    if baseline in written:
        raise _paths.PathConflict(f'another test has just written the baseline {baseline}; give each its own, such as baseline="baselines/{{test}}.memoir"')
    _paths.remove(baseline)
    baseline.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(capture, baseline, ignore=lambda folder, names: [one for one in names if not one.endswith(".memoir")])
    written.add(baseline)
    return f"{baseline} ({_judgement.size(sum(one.stat().st_size for one in baseline.iterdir()))})"


def _warn(item: pytest.Item, warning: dict[str, Any]) -> None:
    """Adds a warning of the child to the parent's list."""
    kind = getattr(sys.modules.get(warning["module"]), warning["name"], UserWarning)
    kind = kind if isinstance(kind, type) and issubclass(kind, Warning) else UserWarning
    try:
        message = kind(warning["text"])
    except TypeError:  # the class has other parameters
        message = UserWarning(warning["text"])
    recorded = warnings.WarningMessage(message, type(message), warning["filename"], warning["lineno"])
    item.config.hook.pytest_warning_recorded.call_historic(kwargs={"warning_message": recorded, "when": warning["when"], "nodeid": warning["nodeid"], "location": None})


def _tear_down(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[pytest.TestReport]:
    """Tears down fixtures of the module and the class that earlier tests of this process have set up, and the next test does not need."""
    state = getattr(item.session, "_setupstate", None)
    if state is None or not getattr(state, "stack", None):
        return
    call = pytest.CallInfo.from_call(lambda: state.teardown_exact(nextitem), when="teardown", reraise=(pytest.exit.Exception, KeyboardInterrupt))
    if call.excinfo is not None:
        yield item.ihook.pytest_runtest_makereport(item=item, call=call)


def _failure(text: str) -> Any:
    """The text as pytest shows a failure without a traceback; its first line is in the short summary."""
    try:
        pytest.fail(text, pytrace=False)
    except pytest.fail.Exception as problem:
        problem.__context__ = None  # an error that is being handled would be in the text
        return pytest.ExceptionInfo.from_current().getrepr(style="value")


def _failed(item: pytest.Item, when: Any, text: str) -> pytest.TestReport:
    """A report of failure for a test that ended without one. In the setup, pytest counts it as an error."""
    names: dict[str, Any] = dict.fromkeys(item.keywords, 1)
    return pytest.TestReport(nodeid=item.nodeid, location=item.location, keywords=names, outcome="failed", longrepr=_failure(text.rstrip()), when=when)
