"""Requests of NVIDIA's libraries to torch, over grids of shapes: sizes.py GROUP. Prints a row of JSON for each shape: the requested sizes of torch's allocator,
in order.

The formulas of simcuda (workspaces.txt, cudnn_rnn.cc) are made from such rows, and compared with a card.
"""

import itertools
import json
import sys

import torch
from torch import nn


def asked(function):
    """Uses the second call, because the first one makes handles and workspaces that stay."""
    function()
    torch.cuda.synchronize()
    torch.cuda.memory._record_memory_history(max_entries=100000, context=None)
    function()
    torch.cuda.synchronize()
    events = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    return [event["size"] for event in events if event["action"] == "alloc"]


def recurrent():
    shapes = [(kind, *rest) for kind in (nn.LSTM, nn.GRU, nn.RNN) for rest in
              [(64, 64, 1, False, 10, 4), (64, 64, 1, False, 20, 4), (64, 64, 1, False, 10, 8), (64, 128, 1, False, 10, 4), (128, 64, 1, False, 10, 4), (64, 64, 2, False, 10, 4),
               (64, 64, 3, False, 10, 4), (64, 64, 1, True, 10, 4), (64, 64, 2, True, 10, 4), (256, 512, 2, True, 60, 6), (80, 256, 3, False, 200, 8), (32, 64, 2, True, 5, 3),
               (512, 512, 1, False, 100, 32), (100, 300, 2, False, 35, 20)]]
    for kind, inner, hidden, layers, both, steps, batch in shapes:
        for dtype in (torch.float32, torch.float16):
            for dropout in (0.0, 0.2) if layers > 1 else (0.0,):
                net = kind(inner, hidden, layers, bidirectional=both, dropout=dropout).cuda().to(dtype)
                x = torch.randn(steps, batch, inner, device="cuda", dtype=dtype)
                with torch.no_grad():
                    without = asked(lambda: net.eval()(x))
                net.train()
                yield [kind.__name__, inner, hidden, layers, both, steps, batch, str(dtype), dropout], {
                    "inference": without, "forward": asked(lambda: net(x)), "both": asked(lambda: net(x)[0].sum().backward()), "parameters": sum(p.numel() for p in net.parameters())}


def fourier():
    for batch, size, kind in itertools.product((1, 16), ((256,), (1000,), (1021,), (4096,), (65536,), (1 << 20,), (121,), (1331,), (2197,), (997, 64), (256, 256), (1000, 1000), (1021, 1021),
                                                         (509, 509), (64, 64, 64), (100, 100, 100), (17, 19), (127, 127), (243, 243), (500, 500), (600, 800)), ("c2c", "r2c", "c2r")):
        complex_ = torch.zeros(batch, *size, device="cuda", dtype=torch.complex64)
        dims = tuple(range(1, len(size) + 1))
        half = torch.zeros(batch, *size[:-1], size[-1] // 2 + 1, device="cuda", dtype=torch.complex64)
        call = {"c2c": lambda: torch.fft.fftn(complex_, dim=dims), "r2c": lambda: torch.fft.rfftn(complex_.real.contiguous(), dim=dims),
                "c2r": lambda: torch.fft.irfftn(half, s=size, dim=dims)}[kind]
        torch.backends.cuda.cufft_plan_cache.clear()
        yield [kind, batch, *size], {"asked": asked(call)}
        del complex_, half
        torch.cuda.empty_cache()


def attention():
    for batch, heads, length, width, dtype, causal in itertools.product((1, 4), (8,), (64, 200, 512, 1024), (64, 128), (torch.bfloat16, torch.float16, torch.float32), (False, True)):
        q, k, v = (torch.randn(batch, heads, length, width, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3))
        run = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        yield [batch, heads, length, width, str(dtype), causal], {"forward": asked(run), "both": asked(lambda: run().sum().backward())}


def convolution():
    for (inner, outer, taps, stride, side, batch), dtype, last in itertools.product(
            ((3, 64, 7, 2, 224, 16), (64, 64, 3, 1, 56, 16), (64, 128, 3, 2, 56, 16), (64, 128, 1, 2, 56, 16), (256, 512, 3, 2, 14, 16), (512, 512, 3, 1, 7, 16), (64, 64, 3, 1, 56, 32),
             (3, 64, 3, 1, 128, 8), (192, 64, 3, 1, 128, 8), (64, 3, 1, 1, 128, 8), (16, 16, 3, 1, 32, 4), (128, 128, 1, 1, 28, 16)), (torch.float32, torch.bfloat16, torch.float16), (False, True)):
        x = torch.randn(batch, inner, side, side, device="cuda", dtype=dtype, requires_grad=True)
        net = nn.Conv2d(inner, outer, taps, stride, taps // 2, bias=False).cuda().to(dtype)
        if last:
            x, net = x.detach().to(memory_format=torch.channels_last).requires_grad_(), net.to(memory_format=torch.channels_last)
        yield [inner, outer, taps, stride, side, batch, str(dtype), last], {"forward": asked(lambda: net(x)), "both": asked(lambda: net(x).sum().backward())}


def solver():
    for n, function in itertools.product((16, 64, 256, 500, 1000), ("inv", "cholesky", "qr", "svd", "eigh", "det", "lu_factor", "pinv", "eigvals", "slogdet", "solve")):
        a = torch.eye(n, device="cuda") * 4 + torch.ones(n, n, device="cuda") * 0.01
        call = (lambda: torch.linalg.solve(a, a)) if function == "solve" else (lambda: getattr(torch.linalg, function)(a))
        yield [function, n], {"asked": asked(call)}


def sparse():
    for rows, count, columns in ((1000, 5000, 64), (1000, 50000, 64), (10000, 5000, 64), (1000, 5000, 256)):
        where = torch.stack([torch.arange(count) % rows, torch.arange(count) * 7 % rows]).cuda()
        matrix, dense = torch.sparse_coo_tensor(where, torch.ones(count, device="cuda"), (rows, rows)).coalesce(), torch.randn(rows, columns, device="cuda")
        rows_of = matrix.to_sparse_csr()
        yield ["coo", rows, count, columns], {"asked": asked(lambda: torch.sparse.mm(matrix, dense))}
        yield ["csr", rows, count, columns], {"asked": asked(lambda: torch.sparse.mm(rows_of, dense))}
        yield ["csr x csr", rows, count, columns], {"asked": asked(lambda: torch.sparse.mm(rows_of, rows_of))}


def addresses():
    """Where the driver puts segments, by the first one: of sizes as training asks for them, with some given back between."""
    torch.cuda.memory._record_memory_history(max_entries=100000, context=None)
    kept, mib = [], 1 << 20
    for number in range(150):
        kept.append(torch.empty((1, 20, 3, 64, 33, 2, 130, 12)[number % 8] * mib + 5, dtype=torch.uint8, device="cuda"))
        if number % 40 == 39:
            kept = kept[::2]
            torch.cuda.empty_cache()
    for event in torch.cuda.memory._snapshot()["device_traces"][0]:
        if event["action"].startswith("segment"):
            yield [event["action"], event["size"]], {"address": event["addr"]}


if __name__ == "__main__":
    for shape, row in globals()[sys.argv[1]]():
        print(json.dumps({"shape": shape, **row}), flush=True)
