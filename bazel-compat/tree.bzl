"""The installed tree (cmake/Layout.cmake) as one archive."""

load("@torch_wheel//:torch.bzl", "CUDA_IS_HERE", "TORCH_IS_HERE", "TORCH_MINOR")

# Label -> where its file lies.
_TOOLS = {
    "//interpose:libmemoir_interpose.so": "lib/memoir/libmemoir_interpose.so",
    "//tools/arrow:libmemoir_arrow.so": "lib/memoir/libmemoir_arrow.so",
    "//tools/cli:memoir": "bin/memoir",
    "//tools/symbolize:memoir-symbolize": "libexec/memoir/memoir-symbolize",
}
_RECORDER = {
    "//tracker/drain:memoir-drain": "libexec/memoir/memoir-drain",
    "//tracker/torch:libmemoir_tracker-torch%s.so" % TORCH_MINOR: "lib/memoir/libmemoir_tracker-torch%s.so" % TORCH_MINOR,
}
_SIMULATED = {
    "//interpose/simcuda:libmemoir_simcuda.so": "lib/memoir/libmemoir_simcuda.so",
    "//interpose/simcuda:profiles.txt": "lib/memoir/simulated_gpus.txt",
    "//interpose/simcuda:simulated/libnvidia-ml.so.1": "lib/memoir/simulated/libnvidia-ml.so.1",
    "//interpose/simcuda:workspaces.txt": "lib/memoir/simulated_workspaces.txt",
    "//tracker/torch/simulated:libmemoir_values-torch%s.so" % TORCH_MINOR: "lib/memoir/libmemoir_values-torch%s.so" % TORCH_MINOR,
}

def memoir_tree(name):
    """NAME.tar. The page of `memoir report` is made by npm, and is not in it."""
    files = dict(_TOOLS)
    if TORCH_IS_HERE:
        files.update(_RECORDER)
    if TORCH_IS_HERE and CUDA_IS_HERE:
        files.update(_SIMULATED)
    commands = ["set -e", "tree=$$(mktemp -d)", "version=$$(cat $(location //:VERSION))", "info=$$tree/lib/memoir/python/memoir.egg-info"]
    commands += ["install -D $(location %s) $$tree/%s" % (label, place) for label, place in files.items()]
    commands += ["for file in $(locations //python:memoir); do install -D -m 644 $$file $$tree/lib/memoir/python/memoir/$${file#*python/memoir/}; done"]
    commands += [
        "mkdir -p $$info",
        "printf 'Metadata-Version: 2.1\\nName: memoir\\nVersion: %s\\n' $$version > $$info/PKG-INFO",
        "printf '[torch.backends]\\nmemoir = memoir:_autoload\\n\\n[pytest11]\\nmemoir = memoir.pytest_plugin\\n' > $$info/entry_points.txt",
    ]
    if "//interpose/simcuda:profiles.txt" in files:
        commands += ["ln -s ../libmemoir_simcuda.so $$tree/lib/memoir/simulated/libcuda.so.1"]
    commands += ["tar -C $$tree --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf $@ .", "rm -r $$tree"]
    native.genrule(
        name = name,
        srcs = ["//:VERSION", "//python:memoir"] + files.keys(),
        outs = [name + ".tar"],
        cmd = "\n".join(commands),
    )
