"""Operators outside of training that a simulated device must run: one function each, one process for all. `python operator_programs.py` prints the allocations
of each, as JSON: bytes at the peak above the bytes before it, allocations, and the beginning of a digest of the allocator's (action, size) sequence. No code
here depends on the simulation.
"""

import hashlib
import io
import json
import sys
import traceback

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

MIB = 1 << 20
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def cuda(*shape, dtype=torch.float32, **named):
    return torch.ones(*shape, device="cuda", dtype=dtype, **named)


@case
def elementwise_reductions_and_indexing():
    x = cuda(500, 400)
    for result in (x.exp() + x.sin() * 2, x.sum(0), x.max(1).values, x.cumsum(1), x.sort(1).values, x.topk(5).values, x[::2, 3], x.gather(1, torch.zeros(500, 3, dtype=torch.long, device="cuda"))):
        assert result.is_cuda
    torch.einsum("bij,bjk->bik", cuda(4, 8, 16), cuda(4, 16, 8))
    return torch._foreach_add([cuda(100, 100) for _ in range(5)], 1.0)


@case
def embeddings_with_sparse_gradients():
    for sparse in (False, True):
        table = nn.Embedding(5000, 64, sparse=sparse).cuda()
        table(torch.arange(600, device="cuda") % 50).sum().backward()
        assert table.weight.grad.is_sparse == sparse


@case
def multiplications_of_other_types():
    half, whole = cuda(64, 64, dtype=torch.float8_e4m3fn), cuda(32, 64, dtype=torch.int8)
    one = torch.ones((), device="cuda")
    torch._scaled_mm(half, half.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    torch._int_mm(whole, cuda(64, 32, dtype=torch.int8))
    torch._grouped_mm(cuda(32, 64, dtype=torch.bfloat16), cuda(2, 64, 32, dtype=torch.bfloat16), offs=torch.tensor([16, 32], dtype=torch.int32, device="cuda"))


@case
def normalisations_and_losses():
    x = cuda(32, 300, requires_grad=True)
    (nn.RMSNorm(300).cuda()(x).sum() + nn.LayerNorm(300).cuda()(x).sum() + F.group_norm(x.view(32, 30, 10), 5).sum()).backward()
    F.ctc_loss(cuda(50, 4, 20, requires_grad=True).log_softmax(2), torch.ones(4, 10, dtype=torch.long, device="cuda"), [50] * 4, [10] * 4).backward()
    F.cross_entropy(cuda(64, 1000, requires_grad=True), torch.zeros(64, dtype=torch.long, device="cuda")).backward()


@case
def images_are_sampled():
    image, grid = cuda(2, 3, 32, 32, requires_grad=True), torch.zeros(2, 16, 16, 2, device="cuda", requires_grad=True)
    F.grid_sample(image, grid, align_corners=False).sum().backward()
    F.interpolate(image, scale_factor=2, mode="bilinear").sum().backward()
    F.max_pool2d(image, 2).sum().backward()


def attend(backend):
    q, k, v = (torch.empty(4, 16, 512, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    with sdpa_kernel(backend):
        F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()


for name in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"):
    CASES[f"attention_{name.lower()}"] = lambda backend=getattr(SDPBackend, name): attend(backend)


def convolve(layer, *shape, dtype=torch.float32, order=None, cudnn=True, benchmark=False):
    torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark = cudnn, benchmark
    x = torch.empty(*shape, device="cuda", dtype=dtype)
    layer = layer.to("cuda", dtype)
    if order:
        x, layer = x.to(memory_format=order), layer.to(memory_format=order)
    layer(x.requires_grad_()).sum().backward()
    torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark = True, False


CASES["convolution"] = lambda: convolve(nn.Conv2d(16, 32, 3), 4, 16, 64, 64)
CASES["convolution_without_cudnn"] = lambda: convolve(nn.Conv2d(16, 32, 3), 4, 16, 64, 64, cudnn=False)
CASES["convolution_benchmarked"] = lambda: convolve(nn.Conv2d(16, 32, 3), 4, 16, 64, 64, benchmark=True)
CASES["convolution_channels_last"] = lambda: convolve(nn.Conv2d(16, 32, 3), 4, 16, 64, 64, dtype=torch.bfloat16, order=torch.channels_last)
CASES["convolution_1d"] = lambda: convolve(nn.Conv1d(16, 32, 3), 4, 16, 500)
CASES["convolution_3d"] = lambda: convolve(nn.Conv3d(4, 8, 3), 2, 4, 16, 16, 16)
CASES["convolution_transposed"] = lambda: convolve(nn.ConvTranspose2d(16, 8, 3, stride=2), 4, 16, 32, 32)
CASES["convolution_in_groups"] = lambda: convolve(nn.Conv2d(16, 16, 3, groups=16), 4, 16, 64, 64)


@case
def linear_algebra():
    a = torch.eye(200, device="cuda") * 3
    for name in ("inv", "cholesky", "qr", "svd", "eigh", "det", "slogdet", "lu", "pinv", "svdvals", "eigvalsh"):
        getattr(torch.linalg, name)(a)
    torch.linalg.solve(a, cuda(200, 3))
    torch.linalg.lstsq(a, cuda(200, 3))
    torch.linalg.eigh(torch.eye(8, device="cuda").expand(50, 8, 8).contiguous())


@case
def fourier_transforms():
    x = cuda(8, 64, 64)
    torch.fft.irfft2(torch.fft.rfft2(x))
    torch.fft.fftn(x.to(torch.complex64))
    spectrum = torch.stft(cuda(2, 4000), 256, window=torch.hann_window(256, device="cuda"), return_complex=True)
    torch.istft(spectrum, 256, window=torch.hann_window(256, device="cuda"))


@case
def sparse_matrices():
    dense = torch.eye(100, device="cuda")
    coo = dense.to_sparse()
    (coo @ dense, (coo + coo).coalesce().to_dense())
    csr = dense.to_sparse_csr()
    (csr @ dense, csr.to_dense())


@case
def saved_and_loaded():
    file = io.BytesIO()
    torch.save({"x": cuda(300, 300), "y": nn.Linear(4, 4).cuda().state_dict()}, file)
    file.seek(0)
    assert torch.load(file)["x"].is_cuda and torch.load(io.BytesIO(file.getvalue()), map_location="cpu")["y"]["weight"].shape == (4, 4)
    assert "device='cuda:0'" in repr(cuda(3))


@case
def written_at_run_time():
    square = torch.cuda.jiterator._create_jit_fn("template <typename T> T my_square(T x) { return x * x; }")
    square(cuda(1000))
    torch.special.airy_ai(cuda(1000))
    with torch.cuda.nvtx.range("here"):
        torch.cuda._sleep(1000)


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        return torch.full((100,), float(index))


@case
def loaded_by_workers_into_pinned_memory():
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=8, num_workers=2, pin_memory=True)
    sums = [batch.cuda(non_blocking=True).sum() for batch in loader if batch.is_pinned()]
    assert len(sums) == 5 and sum(s.item() for s in sums) == 100 * sum(range(40))


def trace(function):
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    base = torch.cuda.memory_allocated()
    torch.cuda.memory._record_memory_history(max_entries=100000, context=None)
    function()
    torch.cuda.synchronize()
    events = [[e["action"], e["size"]] for e in torch.cuda.memory._snapshot()["device_traces"][0] if e["action"] in ("alloc", "free_completed", "segment_alloc")]
    torch.cuda.memory._record_memory_history(None)
    digest = hashlib.md5(json.dumps(events).encode()).hexdigest()[:8]
    return [torch.cuda.max_memory_allocated() - base, sum(action == "alloc" for action, _ in events), digest]


if __name__ == "__main__":
    found = {}
    (cuda(8, 8) @ cuda(8, 8)).sum().item()
    for name in sys.argv[1:] or CASES:
        try:
            found[name] = trace(CASES[name])
        except Exception:
            found[name] = traceback.format_exc()
    print(json.dumps(found))
