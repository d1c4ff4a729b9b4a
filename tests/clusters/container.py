"""Runs a command in a container's environment, without root and without a container engine: `container.py SPECIFICATION.json`.

New user, mount, process, IPC and host name namespaces; a separate root folder, read-only, with only the specification's bind mounts; one user, who has no entry
in /etc/passwd; no capabilities; no new privileges; the filter of system calls that container engines use by default; limits. The keys of the specification:

    root       an empty folder of the host, on which the container's root is mounted
    user       number of user and group in the container [10001]
    hostname   [pod-0]
    image      folders and files of the host, bound read-only at the same path
    mounts     [{"path": in the container, "from": folder of the host (a new tmpfs where it is missing), "size": bytes of the tmpfs, "read_only": bool}]
    proc       whether /proc is mounted [true]
    filter     path of a seccomp profile in Docker's format, or null
    writes     null, or folders of the container below which files may be written, by Landlock: so /proc/self/mem may not
    limits     {"NOFILE": 256}: resource limits
    environment, command, folder

Exits with the command's exit code; with 125 and one line if the kernel does not allow such a container.
"""

import ctypes
import json
import os
import pathlib
import resource
import signal
import socket
import struct
import sys

NEW_NAMESPACES = {"mount": 0x00020000, "names": 0x04000000, "IPC": 0x08000000, "users": 0x10000000, "processes": 0x20000000}
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
MOUNT_ATTR_RDONLY, AT_FDCWD, AT_RECURSIVE = 1, -100, 0x8000
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
SYSCALLS = {"x86_64": {"pivot_root": 155, "capset": 126}, "aarch64": {"pivot_root": 41, "capset": 91}}[os.uname().machine]
SYSCALLS |= {"mount_setattr": 442, "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446}
DEVICES = ("null", "zero", "full", "random", "urandom")
libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The kernel, or what this runs in, allows no such container."""


def check(result, what):
    if result < 0:
        raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def call(name, *arguments):
    return check(libc.syscall(SYSCALLS[name], *arguments), name)


def mount(source, target, kind=None, flags=0, data=None):
    encoded = [text and str(text).encode() for text in (source, target, kind)]
    check(libc.mount(*encoded, ctypes.c_ulong(flags), data and data.encode()), f"mount {target}")


def make_read_only(path):
    call("mount_setattr", AT_FDCWD, str(path).encode(), AT_RECURSIVE, struct.pack("QQQQ", MOUNT_ATTR_RDONLY, 0, 0, 0), 32)


def bind(source, target, read_only):
    source, target = pathlib.Path(source), pathlib.Path(target)
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(source, target, flags=MS_BIND | MS_REC)
    if read_only:
        make_read_only(target)


def write_maps(process, outside, user):
    """Who is who: root maps itself and the user, anybody else only itself, as the user."""
    lines = "0 0 1\n{0} {0} 1" if outside == (0, 0) else "{0} {1} 1"
    for name, own in (("uid_map", outside[0]), ("gid_map", outside[1])):
        pathlib.Path(f"/proc/{process}/{name}").write_text(lines.format(user, own))


def enter_namespaces(user):
    """This process may do anything in its own namespaces; its children are the container's."""
    outside, process = (os.geteuid(), os.getegid()), os.getpid()
    entered, mapped = os.pipe(), os.pipe()
    writer = os.fork()  # stays outside: only from there may root map two users
    if writer == 0:
        os.read(entered[0], 1)
        try:
            if outside != (0, 0):
                pathlib.Path(f"/proc/{process}/setgroups").write_text("deny")
            write_maps(process, outside, user)
            os.write(mapped[1], b"1")
        except OSError as problem:
            os.write(mapped[1], str(problem).encode())
        os._exit(0)
    check(libc.unshare(sum(NEW_NAMESPACES.values())), "unshare")
    os.write(entered[1], b"1")
    said = os.read(mapped[0], 1000)
    os.waitpid(writer, 0)
    for descriptor in (*entered, *mapped):
        os.close(descriptor)
    if said != b"1":
        raise Refused(said.decode())


def lay_volume(target, volume):
    if "from" in volume:
        bind(volume["from"], target, volume.get("read_only", False))
        return
    target.mkdir(parents=True, exist_ok=True)
    mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=2777,size={volume.get('size', 1 << 20)}")
    if volume.get("read_only"):
        make_read_only(target)


def lay_root(root, specification):
    """Mounts a tmpfs at `root`, then the image and the mounts, in the order of their paths, so that one may lie in another."""
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    mount("tmpfs", root, "tmpfs", data="mode=755")
    for name in ("bin", "lib", "lib64", "sbin"):
        if pathlib.Path("/", name).is_symlink():
            (root / name).symlink_to(os.readlink(f"/{name}"))
    for name in DEVICES:
        bind(f"/dev/{name}", root / "dev" / name, read_only=False)
    (root / "dev" / "fd").symlink_to("/proc/self/fd")
    volumes = {volume["path"]: volume for volume in specification.get("mounts", ())}
    for path in sorted({*specification.get("image", ()), *volumes}):
        if path in volumes:
            lay_volume(root / path[1:], volumes[path])
        elif not pathlib.Path(path).is_symlink():
            bind(path, root / path[1:], read_only=True)
    (root / "proc").mkdir()
    if specification.get("proc", True):
        mount_proc(root / "proc")


def mount_proc(folder):
    """As container engines mount it: what tells of the host's kernel is covered, and its settings cannot be written."""
    mount("proc", folder, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in ("kcore", "keys", "timer_list"):
        if (folder / name).exists():
            mount("/dev/null", folder / name, flags=MS_BIND)
    for name in ("bus", "fs", "irq", "sys", "sysrq-trigger"):
        if (folder / name).exists():
            mount(folder / name, folder / name, flags=MS_BIND | MS_REC)
            make_read_only(folder / name)


def change_root(root):
    os.chdir(root)
    call("pivot_root", b".", b".")
    check(libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir("/")
    mount("none", "/", flags=MS_REMOUNT | MS_RDONLY | MS_BIND)  # this mount alone: what lies in it is as it was bound


def become(user):
    """The user, without any capability, now and later."""
    for number in range(64):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # those that this kernel does not know are refused
    if os.geteuid() != user:
        os.setgroups([user])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    call("capset", struct.pack("Ii", 0x20080522, 0), struct.pack("IIIIII", *[0] * 6))
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def allow_writes_only_below(folders):
    """Landlock: no file can be opened for writing but below `folders`."""
    write_file, path_beneath = 1 << 1, 1
    ruleset = call("landlock_create_ruleset", struct.pack("Q", write_file), 8, 0)
    for folder in folders:
        opened = os.open(folder, os.O_PATH)
        call("landlock_add_rule", ruleset, path_beneath, struct.pack("=Qi", write_file, opened), 0)
        os.close(opened)
    call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


class Comparison(ctypes.Structure):
    _fields_ = (("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("first", ctypes.c_uint64), ("second", ctypes.c_uint64))


OPERATORS = ("", "SCMP_CMP_NE", "SCMP_CMP_LT", "SCMP_CMP_LE", "SCMP_CMP_EQ", "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_MASKED_EQ")


def applies(rule, machine):
    """For a container without capabilities, on a kernel that is not older than any that a rule asks for."""
    included, excluded = rule.get("includes", {}), rule.get("excludes", {})
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}[machine]
    return (not included.get("caps") and architecture in included.get("arches", [architecture]) and architecture not in excluded.get("arches", []))


def load_filter(profile):
    """The profile as an engine loads it, by libseccomp, which Debian's apt needs and so is always there."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p

    def action(name, number):
        return 0x7FFF0000 if name == "SCMP_ACT_ALLOW" else 0x00050000 | (1 if number is None else number)

    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(action(profile["defaultAction"], profile.get("defaultErrnoRet")))))
    for rule in profile["syscalls"]:
        if not applies(rule, os.uname().machine):
            continue
        does = ctypes.c_uint32(action(rule["action"], rule.get("errnoRet")))
        tests = [Comparison(a["index"], OPERATORS.index(a["op"]), a["value"], a.get("valueTwo", 0)) for a in rule.get("args") or ()]
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            if number >= 0:  # below: not on this machine, or not known to this libseccomp
                library.seccomp_rule_add_array(context, does, number, len(tests), (Comparison * len(tests))(*tests))
    if library.seccomp_load(context) != 0:
        raise Refused("seccomp_load")


def run(specification):
    """In the child, which is process 1 of the container."""
    root = pathlib.Path(specification["root"])
    lay_root(root, specification)
    socket.sethostname(specification.get("hostname", "pod-0"))
    change_root(root)
    for name, value in specification.get("limits", {}).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    os.chdir(specification.get("folder", "/"))
    become(specification.get("user", 10001))
    if specification.get("writes") is not None:
        allow_writes_only_below(specification["writes"])
    if specification.get("filter"):
        load_filter(specification["filter"])
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and its children with it
        signal.signal(number, signal.SIG_DFL)
    os.execvpe(specification["command"][0], specification["command"], specification["environment"])


def main():
    specification = json.loads(pathlib.Path(sys.argv[1]).read_text())
    if specification.get("filter"):
        specification["filter"] = json.loads(pathlib.Path(specification["filter"]).read_text())
    try:
        enter_namespaces(specification.get("user", 10001))
        child = os.fork()
        if child == 0:
            run(specification)
    except Refused as problem:
        print(f"container: {problem}", file=sys.stderr)
        os._exit(125)
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(child, number))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
