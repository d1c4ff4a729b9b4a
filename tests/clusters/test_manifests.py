"""The manifests of examples/cluster are valid against the published schemas, and the restricted Pod Security Standard admits their pods."""

import copy
import json
import re
import shlex
import subprocess
import sys

import pod_rules
import pytest
import yaml
from manifests import EXAMPLES, ROOT, documents, schema_errors, templates

FILES = sorted(EXAMPLES.glob("*.yaml"))
ALL = [pytest.param(document, id=f"{path.stem}-{document['kind']}") for path in FILES for document in documents(path)]
WITH_PODS = [parameter for parameter in ALL if parameter.values[0]["kind"] != "TrainJob"]  # its pods are in the TrainingRuntime


def test_there_is_one_for_each_way():
    kinds = {document["kind"] for path in FILES for document in documents(path)}
    assert kinds == {"Job", "PyTorchJob", "TrainJob", "TrainingRuntime", "RayJob"}


@pytest.mark.parametrize("document", ALL)
def test_schema(document):
    assert schema_errors(document) == []


@pytest.mark.parametrize("document", ALL)
def test_schemas_find_a_wrong_field(document):
    """Proof that the schemas are strict, at the top and in a pod."""
    broken = copy.deepcopy(document)
    broken["spec"]["reeplicas"] = 1
    assert any("reeplicas" in line for line in schema_errors(broken))
    for template in templates(broken):
        template["spec"]["containers"][0]["volumeMounts"][0]["mountpath"] = "/x"
        template["spec"]["securityContext"]["runAsUser"] = "10001"
        said = schema_errors(broken)
        assert any("mountpath" in line for line in said) and any("runAsUser" in line and "integer" in line for line in said), said


@pytest.mark.parametrize("document", WITH_PODS)
def test_pods_are_restricted(document):
    pods = list(templates(document))
    assert pods
    for pod in pods:
        assert pod_rules.violations(pod) == []


# Further requirements than the standard's.
@pytest.mark.parametrize("document", WITH_PODS)
def test_pods_write_into_limited_volumes_only(document):
    for pod in templates(document):
        spec = pod["spec"]
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        for where, container in pod_rules.containers(spec):
            assert container["securityContext"]["readOnlyRootFilesystem"] is True, where
            assert set(container["resources"]["limits"]) == {"cpu", "memory"}, where
            assert {mount["name"] for mount in container["volumeMounts"]} <= set(volumes), where
        for volume in volumes.values():
            assert "persistentVolumeClaim" in volume or "sizeLimit" in volume["emptyDir"], volume
        assert volumes["ring"]["emptyDir"]["medium"] == volumes["shm"]["emptyDir"]["medium"] == "Memory"
        paths = {mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}
        assert paths == {"/memoir", "/ring", "/captures", "/dev/shm", "/tmp"}
        assert spec["automountServiceAccountToken"] is False


def spec_of(change):
    """`change` as a function of the pod's spec and of its first container."""
    return lambda pod: change(pod["spec"], pod["spec"]["containers"][0])


BROKEN = {
    "host_namespaces": lambda spec, main: spec.update(hostPID=True),
    "privileged": lambda spec, main: main["securityContext"].update(privileged=True),
    "host_process": lambda spec, main: main["securityContext"].update(windowsOptions={"hostProcess": True}),
    "host_ports": lambda spec, main: main.update(ports=[{"containerPort": 1, "hostPort": 1}]),
    "host_of_probes": lambda spec, main: main.update(livenessProbe={"httpGet": {"host": "10.0.0.1", "port": 1}}),
    "app_armor": lambda spec, main: main["securityContext"].update(appArmorProfile={"type": "Unconfined"}),
    "se_linux": lambda spec, main: spec["securityContext"].update(seLinuxOptions={"type": "spc_t"}),
    "proc_mount": lambda spec, main: main["securityContext"].update(procMount="Unmasked"),
    "sysctls": lambda spec, main: spec["securityContext"].update(sysctls=[{"name": "kernel.shmmax", "value": "1"}]),
    "volume_types": lambda spec, main: spec["volumes"].append({"name": "host", "hostPath": {"path": "/dev/shm"}}),
    "privilege_escalation": lambda spec, main: main["securityContext"].pop("allowPrivilegeEscalation"),
    "non_root": lambda spec, main: spec["securityContext"].pop("runAsNonRoot"),
    "seccomp": lambda spec, main: spec["securityContext"].pop("seccompProfile"),
    "capabilities": lambda spec, main: main["securityContext"]["capabilities"].update(add=["SYS_PTRACE"]),
}


@pytest.mark.parametrize("check", pod_rules.CHECKS, ids=lambda check: check.__name__)
def test_a_broken_pod_is_found(check):
    pod = copy.deepcopy(next(templates(documents(EXAMPLES / "job.yaml")[0])))
    spec_of(BROKEN[check.__name__])(pod)
    assert {name for name, _ in pod_rules.violations(pod)} == {check.__name__}


def test_a_capability_that_is_not_dropped_is_found():
    pod = copy.deepcopy(next(templates(documents(EXAMPLES / "job.yaml")[0])))
    pod["spec"]["initContainers"][0]["securityContext"] = {"allowPrivilegeEscalation": False}
    assert pod_rules.violations(pod) == [("capabilities", "initContainers[memoir]: does not drop ALL capabilities")]


def test_rays_environment_is_that_of_print_env(tree):
    """As from a tree in /memoir."""
    job = documents(EXAMPLES / "rayjob.yaml")[0]
    done = subprocess.run([tree / "bin" / "memoir", "run", "--print-env=json", "-o", "/captures/train"], capture_output=True, text=True, check=True, env={})
    said = json.loads(done.stdout.replace(str(tree), "/memoir"))
    assert yaml.safe_load(job["spec"]["runtimeEnvYAML"])["env_vars"] == said


def test_images_are_made_of_what_is_there():
    """Each COPY names what ./dev build and ./dev wheel make or what lies in the repository, and .dockerignore lets it through; each image has no root."""
    text = (EXAMPLES / "Dockerfile").read_text()
    sources = [shlex.split(line)[1] for line in text.splitlines() if line.startswith("COPY ")]
    let_through = {line[1:] for line in (EXAMPLES / "Dockerfile.dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(sources) == let_through == {"build/install", "dist/memoir-*.whl", "examples/transformer.py"}
    assert (ROOT / "examples" / "transformer.py").exists()
    stages = re.split(r"^FROM ", text, flags=re.MULTILINE)[1:]
    assert [stage.split()[2] for stage in stages] == ["tree", "tools", "train"]
    assert all("USER 10001:10001" in stage or ":nonroot" in stage.splitlines()[0] for stage in stages)
    init = next(templates(documents(EXAMPLES / "job.yaml")[0]))["spec"]["initContainers"][0]
    assert f"CMD {json.dumps(init['command'])}" in stages[0]


def program(name):
    found = next((path for path in (f"{folder}/bin/{name}" for folder in (sys.prefix, *sys.path)) if subprocess.run(["test", "-x", path]).returncode == 0), None)
    if not found:
        pytest.skip(f"{name} is not installed: setup/requirements.txt names it")
    return found


def test_hadolint():
    done = subprocess.run([program("hadolint"), EXAMPLES / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.sh")), ids=lambda path: path.stem)
def test_shellcheck(script):
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    done = subprocess.run([program("shellcheck"), script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name, source", [("hadolint", "FROM debian:latest\nRUN cd /tmp\n"), ("shellcheck", "#!/bin/sh\necho $1\n")])
def test_the_checkers_find_something(name, source, tmp_path):
    (tmp_path / "Dockerfile").write_text(source)
    assert subprocess.run([program(name), tmp_path / "Dockerfile"], capture_output=True).returncode != 0
