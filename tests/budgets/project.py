"""Runs pytest with the installed plug-in on tests that are written for it, and reads what it said of each."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

MODEL = """
import torch

def train(width=256, steps=10, kept=None, device="cuda"):
    model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 8)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        batch = torch.ones(1024, width, device=device)
        if kept is not None:
            kept.append(batch)
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""


class Run:
    """pytest has run: `text` is what it printed, `outcomes` each test's outcome (passed, failed, error, skipped), `said` its message."""

    def __init__(self, folder, done):
        self.folder = folder
        self.text, self.code, self.outcomes, self.said, self.properties = done.stdout + done.stderr, done.returncode, {}, {}, {}
        for case in xml.parse(folder / "results.xml").getroot().iter("testcase"):
            name = case.get("name")
            wrong = [child for child in case if child.tag in ("failure", "error", "skipped")]
            outcome = "+".join({"failure": "failed"}.get(child.tag, child.tag) for child in wrong) or "passed"
            self.outcomes[name] = f"{self.outcomes[name]}+{outcome}" if name in self.outcomes else outcome  # an error of the teardown stands apart
            self.said[name] = self.said.get(name, "") + "\n".join(f"{child.get('message')}\n{child.text}" for child in wrong)
            self.properties[name] = {one.get("name"): one.get("value") for one in case.iter("property")}

    def section(self, name):
        """The terminal's section on a test: its failure, or with -rP the output of a test that passed."""
        found = re.search(rf"^_+ (?:ERROR at \w+ of )?(?:[\w.]+\.)?{re.escape(name)} _+$\n(.*?)(?=^_+ .* _+$|^=+ .* =+$)", self.text, re.MULTILINE | re.DOTALL)
        return found[1] if found else ""


def run(package, folder, files, *arguments, timeout=300, **environment):
    """Writes `files` into `folder` and runs pytest there, with the package in the folder `package`."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "--junitxml=results.xml", "--basetemp", folder / "tmp", *arguments]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True, timeout=timeout)
    assert (folder / "results.xml").exists(), done.stdout + done.stderr
    return Run(folder, done)
