"""Writes tools/analyze/categories/saved_by_operators.def: the tensors that each operator's node of autograd saves, from torch's own table of derivatives.

    python saved_by_operators.py SITE_PACKAGES... > tools/analyze/categories/saved_by_operators.def

SITE_PACKAGES: one of each torch that Memoir is built for, with torchgen in it. Needs PyYAML, which torchgen reads its table with. If versions differ, the union
is taken.
"""

import pathlib
import re
import subprocess
import sys

HEAD = """// The tensors that each operator's autograd node saves: arguments by their position in the schema, results as r0, r1.
// "2?1": argument 2 is saved only if argument 1 requires a gradient. n: no result requires a gradient.
// v: the result is a view of an argument. The node of an operator that is not listed may save any tensor.
//
// Written by tests/categories/saved_by_operators.py from torch's derivatives.yaml, not by hand.
"""


def saved_of(site):
    """{"add.Tensor": {"0", "r0", "2?1"}} of one torch."""
    sys.path.insert(0, str(site))
    from torchgen.api.types import BaseCType, OptionalCType, VectorCType, tensorT
    from torchgen.packaged.autograd.load_derivatives import load_derivatives
    from torchgen.gen import parse_native_yaml
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.model import SchemaKind

    packaged = pathlib.Path(site) / "torchgen" / "packaged"
    natives, tags = packaged / "ATen/native/native_functions.yaml", packaged / "ATen/native/tags.yaml"
    infos, _ = load_derivatives(str(packaged / "autograd/derivatives.yaml"), str(natives), str(tags))
    functions = parse_native_yaml(str(natives), str(tags)).native_functions
    table = {}

    def is_tensor(kind):
        if isinstance(kind, OptionalCType):
            return is_tensor(kind.elem)
        return kind == BaseCType(tensorT) or "Tensor" in str(kind.cpp_type() if not isinstance(kind, VectorCType) else kind.elem.cpp_type())

    for one in match_differentiability_info(functions, infos):
        schema = one.func.func
        if not one.info or schema.is_out_fn() or one.info.get("Default") is None:
            continue
        if one.func.has_composite_implicit_autograd_kernel:
            continue  # made of others, which have nodes of their own; a row for it is about few backends
        info = one.info["Default"]
        arguments = [argument.name for argument in schema.arguments.flat_all]
        wants = [d for d in info.derivatives]
        with_derivatives = {name for d in wants for name in d.var_names}
        has_list = any(argument.type.is_list_like() and "Tensor" in str(argument.type) for argument in schema.arguments.flat_all)
        results = [f"r{i}" for i in range(max(1, len(schema.returns)))]
        names = [result.name for result in schema.returns]
        in_place = schema.kind() == SchemaKind.inplace
        said = set()
        for saved in info.all_saved_inputs:
            if not is_tensor(saved.nctype.type):
                continue
            name = re.sub(r"^original_", "", str(getattr(saved.nctype.name, "name", saved.nctype.name)))
            if name not in arguments:
                continue
            used = [d for d in wants if saved in d.saved_inputs]
            single = not has_list and "backward" not in info.name and len(with_derivatives) > 1 and len(used) == 1 and len(used[0].var_names) == 1
            condition = f"?{arguments.index(used[0].var_names[0])}" if single and saved.nctype.type == BaseCType(tensorT) else ""
            said.add(f"{arguments.index(name)}{condition}")
        for saved in info.all_saved_outputs:
            if not is_tensor(saved.nctype.type):
                continue
            name = str(getattr(saved.nctype.name, "name", saved.nctype.name))
            if name == "result" or name == "self" and in_place or len(results) == 1:
                said.update(results)
            elif name in names:
                said.add(f"r{names.index(name)}")
            elif re.fullmatch(r"result\d+", name):
                said.add("r" + name[len("result"):])
            else:
                said.update(results)
        if info.output_differentiability is not None and not any(info.output_differentiability):
            said.add("n")
        table[str(schema.name)] = said
    for function in functions:
        if function.is_view_op:
            table.setdefault(str(function.func.name), set()).add("v")
    # Written by hand in torch (VariableTypeManual.cpp).
    for name in ("detach", "detach_"):
        table[name].add("n")
    table["copy_"] = set()
    return table


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        for name, said in sorted(saved_of(sys.argv[2]).items()):
            print(name, *sorted(said))
        return
    table = {}
    for site in sys.argv[1:]:  # a process each: torchgen is a module of each torch
        lines = subprocess.run([sys.executable, __file__, "--one", site], check=True, capture_output=True, text=True).stdout.splitlines()
        for name, *said in map(str.split, lines):
            table.setdefault(name, set()).update(said)
    print(HEAD)
    for name, said in sorted(table.items()):
        said -= {one for one in said if "?" in one and one.split("?")[0] in said}
        print(f'MEMOIR_SAVES("{name}", "{" ".join(sorted(said))}")')


if __name__ == "__main__":
    main()
