"""Recurrent nets, and NVIDIA's libraries other than cuBLAS and cuDNN's convolutions."""

import torch
import torch.nn.functional as F
from torch import nn

from registry import program


@program
def recurrent():
    lstm, head = nn.LSTM(256, 512, 2, batch_first=True, bidirectional=True).cuda(), nn.Linear(1024, 100).cuda()
    optimizer = torch.optim.RMSprop([*lstm.parameters(), *head.parameters()])
    for step in range(4):
        lengths = torch.tensor([60 + step, 50, 40, 30, 20, 10])
        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(6, 60 + step, 256, device="cuda"), lengths, batch_first=True)
        out, _ = nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)
        optimizer.zero_grad()
        head(out).pow(2).mean().backward()
        optimizer.step()


@program
def speech():
    """GRU and CTC."""
    gru, head = nn.GRU(80, 256, 3, batch_first=True).cuda(), nn.Linear(256, 30).cuda()
    for _ in range(3):
        scores = head(gru(torch.randn(8, 200, 80, device="cuda"))[0]).log_softmax(-1).transpose(0, 1)
        F.ctc_loss(scores, torch.randint(1, 30, (8, 20), device="cuda"), torch.full((8,), 200), torch.full((8,), 20)).backward()


@program
def sorting():
    x = torch.arange(1 << 20, device="cuda", dtype=torch.float32).flip(0)
    for _ in range(3):
        x.sort(), x.topk(100), x.cumsum(0), x.median(), x.argsort(), torch.unique(x[:4096]), torch.nonzero(x > 10), x[x < 1000], torch.histc(x, 100), x.logcumsumexp(0)
        torch.bincount(x.long() % 100), torch.searchsorted(x.flip(0), x), torch.multinomial(x[:1000].abs() + 1, 10), torch.randperm(100000, device="cuda"), x.kthvalue(5)


@program
def linear_algebra():
    a = torch.eye(256, device="cuda") * 4 + torch.ones(256, 256, device="cuda") * 0.01
    for function in (torch.linalg.inv, torch.linalg.cholesky, torch.linalg.qr, torch.linalg.svd, torch.linalg.eigh, torch.linalg.det, torch.linalg.lu_factor):
        function(a)
    torch.linalg.solve(a, a), torch.linalg.lstsq(a, a), torch.linalg.pinv(a), torch.linalg.matrix_exp(a * 0.01)


@program
def fourier():
    for size in (256, 1000, 1021):
        x = torch.randn(16, size, size, device="cuda", requires_grad=True)
        torch.fft.irfft2(torch.fft.rfft2(x) * 2, s=(size, size)).sum().backward()
    torch.stft(torch.randn(8, 16000, device="cuda"), 400, 160, window=torch.hann_window(400, device="cuda"), return_complex=True)


@program
def sparse():
    indices = torch.stack([torch.arange(5000) % 1000, torch.arange(5000) * 7 % 1000]).cuda()
    matrix = torch.sparse_coo_tensor(indices, torch.ones(5000, device="cuda"), (1000, 1000)).coalesce()
    for layout in (matrix, matrix.to_sparse_csr()):
        for _ in range(2):
            torch.sparse.mm(layout, torch.randn(1000, 64, device="cuda"))
    bag = nn.EmbeddingBag(10000, 64, sparse=True, mode="sum").cuda()
    optimizer = torch.optim.SparseAdam(bag.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        bag(torch.arange(640, device="cuda"), torch.arange(0, 640, 10, device="cuda")).sum().backward()
        optimizer.step()


@program
def quantised_and_low_precision():
    a, b = torch.randn(512, 512, device="cuda").to(torch.float8_e4m3fn), torch.randn(512, 512, device="cuda").to(torch.float8_e4m3fn).t()
    one = torch.ones((), device="cuda")
    for _ in range(2):
        torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        torch._int_mm(torch.ones(64, 512, dtype=torch.int8, device="cuda"), torch.ones(512, 64, dtype=torch.int8, device="cuda"))
        torch.bmm(torch.randn(8, 64, 64, device="cuda").half(), torch.randn(8, 64, 64, device="cuda").half())
        torch.baddbmm(torch.zeros(8, 64, 64, device="cuda"), torch.randn(8, 64, 32, device="cuda"), torch.randn(8, 32, 64, device="cuda"))
