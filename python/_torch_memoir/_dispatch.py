"""The part of --ops dispatch that runs in Python."""

from __future__ import annotations


def let_higher_order_operators_pass() -> None:
    """Lets operators such as torch.cond run under --ops dispatch. They look up their kernel in Python by the thread's dispatch keys, without fallbacks, so at
    the key that the tracker includes they would stop with "could not find kernel". This makes them go on to the next key, as for autocast's keys. Does nothing
    unless the tracker has included its key."""
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
    except AttributeError:  # a version of torch without such operators, or with other ones
        pass
