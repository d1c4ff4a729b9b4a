"""Pods of manifests, run here without a cluster: container.py's specifications from a pod's template, and what their images would hold."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pod_rules

HERE = pathlib.Path(__file__).resolve().parent
SECCOMP = HERE / "published" / "seccomp_default.json"  # what RuntimeDefault is
UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
PYTHON = pathlib.Path(sys.prefix).resolve() / "bin" / "python"
# An image with torch: this system's programs and this interpreter's environment.
IMAGE = ["/usr", "/etc", str(PYTHON.parents[1])] + ([] if sys.base_prefix.startswith("/usr") else [str(pathlib.Path(sys.base_prefix).resolve())])


def bytes_of(quantity):
    number, unit = re.fullmatch(r"(\d+)([KMG]i)", quantity).groups()
    return int(number) * UNITS[unit]


class Pod:
    """A pod in `folder`: its volumes, which live as long as this does, and its containers, each of which may be run again.

    Volumes of medium Memory are new in each container; those named in `kept` and all others are folders of the host."""

    def __init__(self, folder, template, hostname="train-0", kept=()):
        self.spec, self.hostname, self.folder = template["spec"], hostname, folder
        self.volumes = {}
        for volume in self.spec["volumes"]:
            empty = volume.get("emptyDir", {})
            if empty.get("medium") == "Memory" and volume["name"] not in kept:
                self.volumes[volume["name"]] = {"size": bytes_of(empty["sizeLimit"])}
            else:
                self.volumes[volume["name"]] = {"from": str(volume_folder(folder / volume["name"]))}
        (folder / "hosts").write_text(f"127.0.0.1 localhost\n127.0.0.1 {hostname}\n")

    def container(self, name):
        return next(container for _, container in pod_rules.containers(self.spec) if container["name"] == name)

    def specification(self, name, mounts=(), environment=None, command=None):
        container = self.container(name)
        own = [{"path": m["mountPath"], "read_only": m.get("readOnly", False), **self.volumes[m["name"]]} for m in container.get("volumeMounts", ())]
        variables = {"PATH": f"{PYTHON.parent}:/usr/bin", **{entry["name"]: entry["value"] for entry in container.get("env", ())}, **(environment or {})}
        return {"user": self.spec["securityContext"]["runAsUser"], "hostname": self.hostname, "image": IMAGE, "filter": str(SECCOMP),
                "mounts": [*own, {"path": "/etc/hosts", "from": str(self.folder / "hosts"), "read_only": True}, *mounts],
                "environment": variables, "command": command or [*container["command"], *container.get("args", ())]}

    def run(self, name, **options):
        return run(self.folder, self.specification(name, **options))


def volume_folder(path):
    """An empty volume as Kubernetes makes it: anybody in the pod may write."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o2777)
    return path


def start(folder, specification, output=subprocess.PIPE):
    (folder / "root").mkdir(exist_ok=True)
    file = folder / f"container-{len(list(folder.glob('container-*')))}.json"
    file.write_text(json.dumps({"root": str(folder / "root"), **specification}))
    return subprocess.Popen([sys.executable, HERE / "container.py", file], stdin=subprocess.DEVNULL, stdout=output, stderr=output, text=True)


def run(folder, specification):
    process = start(folder, specification)
    output, errors = process.communicate(timeout=300)
    return subprocess.CompletedProcess(specification["command"], process.returncode, output, errors)


def kill(process):
    """As a kernel that runs out of memory ends a container: every process of it at once."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    return process.communicate(timeout=300)
