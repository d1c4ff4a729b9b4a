"""The card's memory that a process takes outside torch's allocator: context.py [POINT...]. Prints a row of JSON after each point, from NVML for this process;
without names after each of all points.

These are the figures that simcuda/profiles.txt has as `memory`, `context` and `unowned`. Other processes on the card disturb `used` alone.
"""

import json
import os
import sys

import pynvml
import torch
from torch import nn


def trained(*layers, shape=(8, 256), dtype=torch.float32):
    model = nn.Sequential(*layers).cuda().to(dtype)
    model(torch.randn(*shape, device="cuda", dtype=dtype)).float().sum().backward()
    return model


POINTS = {
    "initialised": lambda: torch.cuda.init(),
    "block": lambda: torch.empty(1, device="cuda"),
    "ones": lambda: torch.ones(1000, device="cuda"),
    "add": lambda: torch.ones(1000, device="cuda") + 1,
    "random": lambda: torch.randn(1000, device="cuda"),
    "product": lambda: torch.empty(256, 256, device="cuda") @ torch.empty(256, 256, device="cuda"),
    "linear": lambda: nn.Linear(256, 256).cuda()(torch.empty(8, 256, device="cuda")),
    "backward": lambda: trained(nn.Linear(256, 256), nn.ReLU()),
    "bf16": lambda: trained(nn.Linear(256, 256), dtype=torch.bfloat16),
    "attention": lambda: nn.functional.scaled_dot_product_attention(*(torch.randn(2, 4, 256, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
                                                                      for _ in range(3)), is_causal=True).sum().backward(),
    "AdamW": lambda: torch.optim.AdamW(trained(nn.Linear(256, 256)).parameters()).step(),
    "convolution": lambda: trained(nn.Conv2d(3, 64, 3), shape=(8, 3, 64, 64)),
    "recurrent": lambda: nn.LSTM(64, 64).cuda()(torch.randn(8, 4, 64, device="cuda"))[0].sum().backward(),
    "linear algebra": lambda: torch.linalg.svd(torch.randn(64, 64, device="cuda")),
    "fourier": lambda: torch.fft.rfft2(torch.randn(4, 64, 64, device="cuda")),
}


def main(names):
    pynvml.nvmlInit()
    card = pynvml.nvmlDeviceGetHandleByIndex(0)
    for name in names or POINTS:
        POINTS[name]()
        torch.cuda.synchronize()
        of_this = [process.usedGpuMemory for process in pynvml.nvmlDeviceGetComputeRunningProcesses(card) if process.pid == os.getpid()]
        memory, (free, total), reserved = pynvml.nvmlDeviceGetMemoryInfo(card), torch.cuda.mem_get_info(), torch.cuda.memory_reserved()
        print(json.dumps({"after": name, "alone": len(names) == 1, "total": total, "free": free, "reserved": reserved, "nvml_used": memory.used, "nvml_total": memory.total,
                          "process": of_this, "process_without_torch": of_this[0] - reserved if of_this else None}))


if __name__ == "__main__":
    main(sys.argv[1:])
