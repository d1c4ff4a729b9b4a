"""Workspaces of NVIDIA's libraries: torch allocates what the table says, tells algorithms apart by it, and turns to a smaller one where memory is short."""

import pytest

from simulation import ON_GPU, answers, simulate

pytestmark = pytest.mark.skipif(ON_GPU, reason="the table of the simulated device is tested; a GPU's libraries have sizes of their own")

MIB = 1 << 20
PEAKS = '''
import json, sys, time, torch
from torch import nn
def beside(function):
    """Bytes that a call takes for a while, beside what it returns."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = function()
    return torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated()
def settled(measure):
    """Autograd's thread may give back what it holds a little later: that would count as another's. What it keeps, a workspace, it keeps."""
    before, found, until = torch.cuda.memory_allocated(), measure(), time.monotonic() + 2
    while torch.cuda.memory_allocated() > before and time.monotonic() < until:
        time.sleep(0.01)
    return found
def convolve(dtype, order=torch.contiguous_format, tf32=True, taps=3):
    torch.backends.cudnn.allow_tf32 = tf32
    x = torch.empty(4, 64, 64, 64, device="cuda", dtype=dtype).to(memory_format=order)
    layer = nn.Conv2d(64, 64, taps, padding=taps // 2, bias=False).to("cuda", dtype).to(memory_format=order)
    with torch.no_grad():
        return beside(lambda: layer(x))
x = torch.empty(4, 64, 64, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
layer = nn.Conv2d(64, 64, 3, padding=1, bias=False).to("cuda", torch.bfloat16)
y = layer(x)
gradient = torch.empty_like(y)
found = {
    "half": convolve(torch.float16), "single": convolve(torch.float32), "without TF32": convolve(torch.float32, tf32=False),
    "channels last": convolve(torch.float16, torch.channels_last), "double": convolve(torch.float64), "one by one": convolve(torch.float16, taps=1),
    "backward": settled(lambda: beside(lambda: torch.autograd.grad(y, (x, layer.weight), gradient))),
    "fft": beside(lambda: torch.fft.fft2(torch.empty(8, 512, 512, dtype=torch.complex64, device="cuda"))),
    "long fft": beside(lambda: torch.fft.fft(torch.empty(4, 1 << 16, dtype=torch.complex64, device="cuda"))),
    "real fft": beside(lambda: torch.fft.rfft(torch.empty(16, 1 << 16, device="cuda"))),
    "prime fft": beside(lambda: torch.fft.rfft(torch.empty(4, 1021, device="cuda"))),
    "eigh": beside(lambda: torch.linalg.eigh(torch.empty(1000, 1000, device="cuda"))),
    "svd": beside(lambda: torch.linalg.svd(torch.empty(1000, 1000, device="cuda"))),
    "gesvd": beside(lambda: torch.linalg.svd(torch.empty(1000, 1000, device="cuda"), driver="gesvd")),
}
print(json.dumps(found))
'''
HALF = 4 * 64 * 64 * 64 * 2              # bytes of x and of y
FILTER = 64 * 64 * 9 * 2
INDICES = 4 * 64 * 9 + 1


def rounded(size):
    return -(-size // 512) * 512


@pytest.fixture(scope="module")
def found(tree):
    return {card: answers(tree, PEAKS, MEMOIR_SIM_GPU=card) for card in ("h100", "t4")}


def test_convolutions_that_convert_take_a_copy_of_each_tensor(found):
    h100, t4 = found["h100"], found["t4"]
    assert h100["half"] == t4["half"] == rounded(2 * HALF + FILTER + 16)
    assert h100["single"] == rounded(4 * HALF + 2 * FILTER + 16) and t4["single"] == 512, "a T4 has no TF32"
    assert h100["without TF32"] == rounded(INDICES) and h100["channels last"] == h100["double"] == 512
    assert h100["one by one"] == 512, "a matrix product in any order"
    assert h100["backward"] >= 2 * HALF + 14 * FILTER


def test_long_transforms_and_real_ones_of_large_primes_take_a_work_area(found):
    """Without the argument, which is freed before the measurement."""
    h100 = found["h100"]
    assert h100["fft"] == 8 * 512 * 512 * 8
    assert h100["long fft"] == 2 * 4 * (1 << 16) * 8
    assert h100["real fft"] == rounded(16 * (1 << 15 | 1) * 8) + 16 * (1 << 16) * 4
    assert h100["prime fft"] == rounded(2 * 4 * 511 * 8) + rounded(4 * 1021 * 4)


def test_factorisations_take_what_was_published(found):
    n = 1000
    for name, elements in (("eigh", 3 * n * n + 134 * n), ("svd", 2 * n * n + 143 * n + 4160), ("gesvd", 6 * n * n)):
        assert rounded(4 * elements) <= found["h100"][name] < 4 * elements + 3 * 4 * n * n + 64 * 1024, name


SHORT = '''
import json, torch
from torch import nn
x = torch.empty(4, 64, 256, 256, device="cuda", dtype=torch.float16)
layer = nn.Conv2d(64, 64, 3, padding=1, bias=False).to("cuda", torch.float16)
left = torch.cuda.mem_get_info()[0] // (2 << 20) * (2 << 20)
kept = torch.empty(left - (48 << 20), dtype=torch.uint8, device="cuda")
with torch.no_grad():
    y = layer(x)
print(json.dumps([y.numel() * 2 >> 20, torch.cuda.memory_stats()["num_ooms"], torch.cuda.max_memory_allocated() <= torch.cuda.mem_get_info()[1]]))
'''


def test_a_convolution_without_room_turns_to_the_one_that_needs_none(tree):
    size, ooms, fits = answers(tree, SHORT, MEMOIR_SIM_GPU="l4", MEMOIR_SIM_MEMORY="2GiB")
    assert size == 32 and ooms == 1 and fits


OWN = "import json, torch; x = torch.empty(8, 64, 64, dtype=torch.complex64, device='cuda'); torch.fft.fft2(x); print(json.dumps(torch.cuda.max_memory_allocated()))"


def test_formulas_of_ones_own(tree, tmp_path):
    formulas = tmp_path / "measured.txt"
    formulas.write_text("# measured\ncufft.smooth = 3 * elements * element + 1 MiB\n")
    size = 8 * 64 * 64 * 8
    assert answers(tree, OWN) == 2 * size
    assert answers(tree, OWN, MEMOIR_SIM_WORKSPACES=formulas) == 5 * size + MIB


def test_a_formula_that_is_none_is_one_line(tree, tmp_path):
    formulas = tmp_path / "wrong.txt"
    formulas.write_text("\ncufft.smooth = 3 * points\n")
    done = simulate(tree, "import torch; print(torch.cuda.is_available())", MEMOIR_SIM_WORKSPACES=formulas)
    assert done.returncode == 0 and done.stdout.strip() == "False", done
    assert done.stderr.strip() == (f"memoir: simulated GPU: MEMOIR_SIM_WORKSPACES={formulas}: line 2: cufft.smooth = 3 * points: no formula at 'points'; "
                                   "the program sees no GPU")
