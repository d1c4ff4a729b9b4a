"""Kubernetes' Pod Security Standard "restricted" (and "baseline", which it includes), for templates of Linux pods: the reasons of a refusal, one line each.
Written from the published standard and its checks, k8s.io/pod-security-admission v0.37; these rules agree with its 131 pods for Kubernetes 1.37, except Windows
pods; tests/clusters/test_manifests.py breaks a pod in each way.
"""

VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret"}
SELINUX_TYPES = {None, "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
SYSCTLS = {"kernel.shm_rmid_forced"} | {
    f"net.ipv4.{name}" for name in ("ip_local_port_range", "ip_unprivileged_port_start", "tcp_syncookies", "ping_group_range", "ip_local_reserved_ports",
                                    "tcp_keepalive_time", "tcp_fin_timeout", "tcp_keepalive_intvl", "tcp_keepalive_probes", "tcp_rmem", "tcp_wmem",
                                    "tcp_slow_start_after_idle", "tcp_notsent_lowat")}
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"


def context(thing):
    return thing.get("securityContext") or {}


def containers(spec):
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(kind) or ():
            yield f"{kind}[{container['name']}]", container


def contexts(spec):
    yield "pod", context(spec)
    for where, container in containers(spec):
        yield where, context(container)


def host_namespaces(metadata, spec):
    yield from (f"{name} is set" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name))


def privileged(metadata, spec):
    yield from (f"{where} is privileged" for where, container in containers(spec) if context(container).get("privileged"))


def host_process(metadata, spec):
    yield from (f"{where}: hostProcess" for where, own in contexts(spec) if (own.get("windowsOptions") or {}).get("hostProcess"))


def host_ports(metadata, spec):
    yield from (f"{where}: hostPort" for where, container in containers(spec) if any(port.get("hostPort") for port in container.get("ports") or ()))


def host_of_probes(metadata, spec):
    for where, container in containers(spec):
        life = container.get("lifecycle") or {}
        handlers = [container.get(f"{name}Probe") or {} for name in ("liveness", "readiness", "startup")] + [life.get(n) or {} for n in ("postStart", "preStop")]
        if any((handler.get(kind) or {}).get("host") for handler in handlers for kind in ("httpGet", "tcpSocket")):
            yield f"{where}: a probe or a handler names a host"


def app_armor(metadata, spec):
    for where, own in contexts(spec):
        if (own.get("appArmorProfile") or {}).get("type", "RuntimeDefault") not in ("RuntimeDefault", "Localhost"):
            yield f"{where}: AppArmor profile"
    for name, value in (metadata.get("annotations") or {}).items():
        if name.startswith(APPARMOR) and value not in ("", "runtime/default") and not value.startswith("localhost/"):
            yield f"annotation {name}: AppArmor profile"


def se_linux(metadata, spec):
    for where, own in contexts(spec):
        options = own.get("seLinuxOptions") or {}
        if options.get("type") not in SELINUX_TYPES or options.get("user") or options.get("role"):
            yield f"{where}: SELinux options"


def proc_mount(metadata, spec):
    yield from (f"{where}: procMount" for where, container in containers(spec) if context(container).get("procMount", "Default") != "Default")


def sysctls(metadata, spec):
    yield from (f"sysctl {entry['name']}" for entry in context(spec).get("sysctls") or () if entry["name"] not in SYSCTLS)


def volume_types(metadata, spec):
    for volume in spec.get("volumes") or ():
        if set(volume) != {"name"} and not set(volume) & VOLUMES:  # a volume without a type becomes an emptyDir
            yield f"volume {volume['name']} has another type"


def privilege_escalation(metadata, spec):
    yield from (f"{where}: allowPrivilegeEscalation is not false" for where, c in containers(spec) if context(c).get("allowPrivilegeEscalation") is not False)


def non_root(metadata, spec):
    of_pod = context(spec).get("runAsNonRoot")
    for where, container in containers(spec):
        own = context(container).get("runAsNonRoot")
        if not (of_pod if own is None else own):
            yield f"{where}: runAsNonRoot is not true"
    yield from (f"{where}: runAsUser is 0" for where, own in contexts(spec) if own.get("runAsUser") == 0)


def seccomp(metadata, spec):
    allowed = ("RuntimeDefault", "Localhost")
    of_pod = (context(spec).get("seccompProfile") or {}).get("type")
    if of_pod is not None and of_pod not in allowed:
        yield "pod: seccomp profile"
    for where, container in containers(spec):
        if (context(container).get("seccompProfile") or {}).get("type", of_pod) not in allowed:
            yield f"{where}: seccomp profile"


def capabilities(metadata, spec):
    for where, container in containers(spec):
        own = context(container).get("capabilities") or {}
        if "ALL" not in (own.get("drop") or ()):
            yield f"{where}: does not drop ALL capabilities"
        if set(own.get("add") or ()) - {"NET_BIND_SERVICE"}:
            yield f"{where}: adds capabilities"


CHECKS = (host_namespaces, privileged, host_process, host_ports, host_of_probes, app_armor, se_linux, proc_mount, sysctls, volume_types, privilege_escalation,
          non_root, seccomp, capabilities)


def violations(template):
    """(check's name, what it says) of everything for which admission would refuse pods of `template`."""
    metadata, spec = template.get("metadata") or {}, template["spec"]
    return [(check.__name__, line) for check in CHECKS for line in check(metadata, spec)]
