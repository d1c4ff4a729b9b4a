"""The pytest plug-in of the child process in which one test runs. The child has the arguments of the parent, runs one test, and writes its reports to a file.

Each report is one line and is written at once, so a child that is killed leaves its earlier reports.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

NAME = "memoir-inside"

# Options of pytest and its plug-ins that write a file, start processes or choose tests: only the parent uses them.
_OF_THE_PARENT: dict[str, Any] = {
    "xmlpath": None, "htmlpath": None, "report_log": None, "json_report": False, "allure_report_dir": None, "pastebin": None, "log_file": os.devnull,
    "markexpr": "", "keyword": "", "maxfail": 0, "looponfail": False, "lf": False, "failedfirst": False, "newfirst": False, "stepwise": False,
}  # fmt: skip
_WITH_A_CACHE = ("lfplugin", "nfplugin", "stepwiseplugin")  # they would remember a run of one test


class ChildPlugin:
    """Registered in addition to Memoir's plug-in, which then runs the test in this process instead of another child."""

    __name__ = NAME  # pytest registers it under this name

    def __init__(self, nodeid: str, file: str, reports: str) -> None:
        self._nodeid, self._file = nodeid, file
        self._reports = open(reports, "a", encoding="utf-8")  # noqa: SIM115  # open until the process ends
        self._config: pytest.Config | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self._config = config
        for name, value in _OF_THE_PARENT.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        session.config.args = [self._file]
        for name in _WITH_A_CACHE:
            if session.config.pluginmanager.hasplugin(name):
                session.config.pluginmanager.unregister(name=name)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, Any, None]:
        chosen = [item for item in items if item.nodeid == self._nodeid][:1]
        if not chosen:
            self._say(not_found=[item.nodeid for item in items][:10])
        items[:] = chosen
        yield
        items[:] = chosen  # other plug-ins may choose tests, for example a part for each of several machines

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._say(not_collected=report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        assert self._config is not None
        self._say(report=self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        kind, where = warning_message.category, {"filename": warning_message.filename, "lineno": warning_message.lineno}
        self._say(warning={"module": kind.__module__, "name": kind.__qualname__, "text": str(warning_message.message), "when": when, "nodeid": nodeid, **where})

    def pytest_internalerror(self, excrepr: object) -> None:
        self._say(internal_error=str(excrepr))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._say(finished=int(exitstatus))

    def _say(self, **line: object) -> None:
        self._reports.write(json.dumps(line) + "\n")
        self._reports.flush()
