"""What --ops dispatch needs of torch's Python side."""

from __future__ import annotations


def let_higher_order_operators_pass() -> None:
    """Operators such as torch.cond find their kernel in Python, by the thread's dispatch keys, and know no fallbacks there: without this
    they would stop with "could not find kernel" at the key that the tracker includes. They go on to the next key then, as they do for
    autocast's. Does nothing unless the tracker has included it."""
    import torch

    try:
        key = torch._C._parse_dispatch_key("Fake")
        if not torch._C._dispatch_tls_local_include_set().has(key):
            return
        later = torch._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS
        if key not in later:
            later.append(key)
        for operator in torch._ops._higher_order_ops.values():
            operator.fallthrough(key)
    except AttributeError:  # a torch without such operators, or with others
        pass
