"""Writes tools/redact/data/torch_names.txt: names that everybody finds in PyTorch, which a redacted capture keeps: operators with their overloads,
autograd nodes, classes of torch.nn and torch.optim, ranges of torch's own code. All other names are hashed.

    python torch_names.py > one.txt            # with each torch that is supported
    python torch_names.py one.txt other.txt > tools/redact/data/torch_names.txt
"""

import inspect
import pathlib
import re
import sys

def operators(torch):
    for schema in torch._C._jit_get_all_schemas():
        yield schema.name
        yield schema.name + ("." + schema.overload_name if schema.overload_name else "")


def nodes(include):
    yield from re.findall(r"struct TORCH_API (\w+)", (include / "torch/csrc/autograd/generated/Functions.h").read_text())


def classes(torch):
    import torch.distributed.fsdp
    import torch.nn.attention
    for space in (torch.nn, torch.nn.attention, torch.optim, torch.optim.lr_scheduler, torch.distributed.fsdp):
        yield from (name for name, value in vars(space).items() if isinstance(value, type) and value.__module__.startswith("torch."))


def compiler_events(package):
    """The events of dynamo_timed(), under the recorder's names for their ranges."""
    for path in (*package.glob("_dynamo/**/*.py"), *package.glob("_inductor/**/*.py"), *package.glob("_functorch/**/*.py")):
        for name in re.findall(r'dynamo_timed\(\s*f?"([^"{]+)"', path.read_text(errors="ignore")):
            if name not in ("_foo", "my_event", "metric"):
                yield f"torch.compile: {name}"


def parameters(torch):
    """The names under which classes of torch.nn hold parameters and buffers."""
    for value in vars(torch.nn).values():
        if isinstance(value, type) and issubclass(value, torch.nn.Module):
            yield from re.findall(r"self\.register_(?:parameter|buffer)\(\s*['\"](\w+)", source(value))
            yield from re.findall(r"self\.(\w+) = (?:torch\.nn\.)?Parameter\(", source(value))


def source(cls):
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return ""


def of_this_torch():
    import torch
    package = pathlib.Path(torch.__file__).parent
    return {*operators(torch), *nodes(package / "include"), *classes(torch), *compiler_events(package), *parameters(torch)}


def main():
    if len(sys.argv) == 1:
        print("\n".join(sorted(of_this_torch())))
        return
    names = {line for path in sys.argv[1:] for line in pathlib.Path(path).read_text().splitlines() if line}
    print("\n".join(sorted(names)))


if __name__ == "__main__":
    main()
