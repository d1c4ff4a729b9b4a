"""The installed tree (cmake/Layout.cmake) as one archive."""

load("@torch_wheel//:torch.bzl", "CUDA_IS_HERE", "TORCH_IS_HERE", "TORCH_MINOR")

# Label -> where its file lies.
_TOOLS = {
    "//:libmemoir_interpose.so": "lib/memoir/libmemoir_interpose.so",
    "//:libmemoir_arrow.so": "lib/memoir/libmemoir_arrow.so",
    "//:memoir": "bin/memoir",
    "//:memoir-symbolize": "libexec/memoir/memoir-symbolize",
}
_RECORDER = {
    "//:memoir-drain": "libexec/memoir/memoir-drain",
    "//:libmemoir_tracker-torch%s.so" % TORCH_MINOR: "lib/memoir/libmemoir_tracker-torch%s.so" % TORCH_MINOR,
}
_SIMULATED = {
    "//:libmemoir_simcuda.so": "lib/memoir/libmemoir_simcuda.so",
    "//:simcuda/profiles.txt": "lib/memoir/simulated_gpus.txt",
    "//:simulated/libnvidia-ml.so.1": "lib/memoir/simulated/libnvidia-ml.so.1",
    "//:simcuda/workspaces.txt": "lib/memoir/simulated_workspaces.txt",
    "//:libmemoir_values-torch%s.so" % TORCH_MINOR: "lib/memoir/libmemoir_values-torch%s.so" % TORCH_MINOR,
}

def memoir_tree(name):
    """NAME.tar. The page of `memoir report` is made by npm, and is not in it."""
    files = dict(_TOOLS)
    if TORCH_IS_HERE:
        files.update(_RECORDER)
    if TORCH_IS_HERE and CUDA_IS_HERE:
        files.update(_SIMULATED)
    commands = ["set -e", "tree=$$(mktemp -d)", "version=$$(cat $(location //:VERSION))", "info=$$tree/lib/memoir/python/torch_memoir.egg-info"]
    commands += ["install -D $(location %s) $$tree/%s" % (label, place) for label, place in files.items()]
    commands += ["for file in $(locations //:python_packages); do install -D -m 644 $$file $$tree/lib/memoir/python/$${file#*python/}; done"]
    commands += [
        "mkdir -p $$info",
        "printf 'Metadata-Version: 2.1\\nName: torch-memoir\\nVersion: %s\\n' $$version > $$info/PKG-INFO",
        "printf '[torch.backends]\\nmemoir = _torch_memoir:_autoload\\n\\n[pytest11]\\nmemoir = _torch_memoir.pytest_plugin\\n' > $$info/entry_points.txt",
    ]
    if "//:simcuda/profiles.txt" in files:
        commands += ["ln -s ../libmemoir_simcuda.so $$tree/lib/memoir/simulated/libcuda.so.1"]
    commands += ["tar -C $$tree --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf $@ .", "rm -r $$tree"]
    native.genrule(
        name = name,
        srcs = ["//:VERSION", "//:python_packages"] + files.keys(),
        outs = [name + ".tar"],
        cmd = "\n".join(commands),
    )
