"""Programs whose values Python sees. `python value_programs.py DEVICE` prints what each returns, as JSON: the same on cpu and on the simulated GPU.

Random numbers are drawn on the device alone, or before it is used: a GPU's draws are no part of the CPU's.
"""

import json
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def values(tensor):
    """Rounded where the two may differ in the last place."""
    flat = tensor.detach().cpu().flatten().tolist()
    return [float(f"{v:.4g}") + 0.0 for v in flat] if tensor.dtype.is_floating_point else flat


@case
def creation(device):
    made = [torch.arange(5, device=device), torch.linspace(0, 1, 7, device=device), torch.eye(3, device=device), torch.full((3,), 2.5, device=device),
            torch.tril_indices(3, 3, device=device), torch.ones(4, device=device).double(), torch.zeros(3, device=device) + 3,
            torch.tensor([1, 2], device=device).half(), torch.tensor([True, False], device=device).float()]
    return [values(tensor) for tensor in made]


@case
def reductions(device):
    x = torch.tensor([[3.0, 1.0, 2.0], [9.0, -4.0, 5.0]], device=device)
    some = [f(x) for f in (torch.sum, torch.mean, torch.std, torch.max, torch.argmax, torch.prod, torch.median, torch.norm)]
    along = [x.cumsum(1), x.sort(1)[0], x.topk(2)[1], x.softmax(1), x.logsumexp(0), x.max(1)[0]]
    return [values(t) for t in some + along] + [bool(x.any()), x.amax().item(), bool(x.max() == 9)]


@case
def shapes_by_value(device):
    x = torch.tensor([0, 3, 0, 5, 5, 1], device=device)
    found = [x.nonzero(), x[x > 2], x.unique(return_counts=True)[1], x.unique_consecutive(), torch.bincount(x), x.repeat_interleave(x),
             torch.masked_select(x, x > 0), F.one_hot(x), torch.where(x > 0)[0], torch.unique(x.view(3, 2), dim=0), torch.argwhere(x),
             torch.unique_consecutive(x.view(3, 2), dim=0), torch.isin(x, torch.tensor([5, 1], device=device))]
    return [t.tolist() for t in found] + [torch.equal(x, x.clone()), torch.equal(x, x + 1), torch.histc(x.float(), 4).tolist()]


@case
def in_place_and_views(device):
    x = torch.zeros(4, 4, device=device)
    x[1] = 1
    x[:, 2] = 7
    x[2, 3] += 2
    x.add_(1).mul_(2)
    x[x > 5] = -1
    x.index_add_(0, torch.tensor([0, 0], device=device), torch.ones(2, 4, device=device))
    x.scatter_(1, torch.tensor([[0], [1], [2], [3]], device=device), 9.0)
    x.masked_fill_(x == 9, 4)
    y = x.t()
    y[0] = 5
    x.index_put_((torch.tensor([1, 1], device=device), torch.tensor([2, 2], device=device)), torch.tensor([1.0, 1.0], device=device), accumulate=True)
    columns = torch.empty(3, 3, device=device)
    for i in range(3):
        columns[:, i] = i
    columns.diagonal().fill_(8)
    return [values(t) for t in (x, y, columns, columns.sum(0))]


@case
def out_arguments(device):
    a = torch.arange(6.0, device=device).view(2, 3)
    product, joined = torch.mul(a, 2, out=torch.empty(2, 3, device=device)), torch.empty(0, device=device)
    torch.cat([a, product], out=joined)
    matrix = torch.mm(a, product.t(), out=torch.empty(2, 2, device=device))
    turned = torch.add(a, 1, out=torch.empty(3, 2, device=device).t())
    return [values(t) for t in (product, joined, matrix, turned)] + [list(joined.shape)]


@case
def random_numbers(device):
    torch.manual_seed(3)
    drawn = [torch.rand(5, device=device), torch.randn(20, device=device), torch.randint(0, 100, (6,), device=device), torch.randperm(9, device=device),
             torch.empty(4, device=device).uniform_(2, 3), torch.bernoulli(torch.full((8,), 0.5, device=device)),
             torch.multinomial(torch.tensor([0.1, 0.2, 0.7], device=device), 5, replacement=True), torch.empty(3, device=device).exponential_(),
             torch.normal(torch.zeros(3, device=device), 1.0), torch.rand_like(torch.empty(3, device=device))]
    own = torch.Generator(device=device).manual_seed(5)
    drawn += [torch.randn(3, generator=own, device=device), torch.rand(2, generator=own, device=device)]
    torch.manual_seed(3)
    return [values(t) for t in drawn + [torch.rand(5, device=device)]]


@case
def random_states(device):
    """A state that is put back gives the same numbers again, and the CPU's own generator is not touched."""
    torch.manual_seed(1)
    torch.rand(3, device=device)
    get, put = (torch.cuda.get_rng_state, torch.cuda.set_rng_state) if device == "cuda" else (torch.get_rng_state, torch.set_rng_state)
    state = get()
    first = values(torch.rand(4, device=device))
    torch.rand(2, device=device)
    put(state)
    again = values(torch.rand(4, device=device))
    if device == "cuda":
        torch.manual_seed(9)
        expected = torch.rand(1).item()
        torch.manual_seed(9)
        F.dropout(torch.randn(50, device=device), 0.5)
        assert torch.rand(1).item() == expected
    return [first, first == again]


@case
def foreach(device):
    xs = [torch.arange(3.0, device=device) + i for i in range(3)]
    ys = torch._foreach_add(xs, 1)
    torch._foreach_mul_(xs, 2)
    return [values(t) for t in [*xs, *ys, *torch._foreach_norm(xs)]]


def classifier(device):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3)).to(device)


def batch(device):
    torch.manual_seed(9)
    return torch.randn(8, 6).to(device), torch.randint(0, 3, (8,)).to(device)


@case
def optimizers(device):
    makers = [lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), lambda p: torch.optim.AdamW(p, 0.01, foreach=False),
              lambda p: torch.optim.AdamW(p, 0.01, foreach=True), lambda p: torch.optim.Adam(p, 0.01, fused=True), torch.optim.RMSprop]
    found = []
    for make in makers:
        model, (x, y) = classifier(device), batch(device)
        optimizer = make(list(model.parameters()))
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            found.append(round(loss.item(), 3))
    return found


@case
def scaler(device):
    model, (x, y) = classifier(device), batch(device)
    optimizer, scale = torch.optim.SGD(model.parameters(), 0.1), torch.amp.GradScaler(device, init_scale=8.0, growth_interval=2)
    found = []
    for step in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) * (float("inf") if step == 2 else 1.0)
        scale.scale(loss).backward()
        scale.unscale_(optimizer)
        scale.step(optimizer)
        scale.update()
        found.append(scale.get_scale())
    return found


@case
def not_a_number(device):
    x = torch.tensor([1.0, float("nan"), 2.0, float("inf")], device=device)
    return [torch.isnan(x).any().item(), torch.isfinite(x).sum().item(), bool((x != x).any()), values(torch.nan_to_num(x, 0.0, 9.0, -9.0))]


@case
def convolution_and_normalisation(device):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 2, 3), nn.Flatten(), nn.Linear(8, 3))
    model.to(device)
    x = torch.randn(2, 3, 8, 8).to(device)
    loss = model(x).sum()
    loss.backward()
    gradients = round(sum(p.grad.abs().sum().item() for p in model.parameters()), 1)
    model.eval()
    return [round(loss.item(), 3), gradients, values(model[1].running_mean), round(model(x).sum().item(), 3)]


@case
def attention(device):
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 2, 5, 8).to(device).requires_grad_() for _ in range(3))
    found = []
    for causal in (False, True):
        output = F.scaled_dot_product_attention(query, key, value, is_causal=causal)
        (output * output).sum().backward()
        found += [round(t.double().abs().sum().item(), 2) for t in (output, query.grad, key.grad, value.grad)]
    mask = torch.ones(5, 5, dtype=torch.bool, device=device).tril()
    found.append(round(F.scaled_dot_product_attention(query, key, value, attn_mask=mask).sum().item(), 2))
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).to(device)
    return found + [round(layer(torch.ones(2, 3, 8, device=device)).abs().sum().item(), 2)]


@case
def dropout_and_checkpointing(device):
    torch.manual_seed(0)
    x = torch.ones(40, device=device, requires_grad=True)
    y = F.dropout(x, 0.5)
    y.sum().backward()
    model, (inputs, targets) = classifier(device), batch(device)
    torch.manual_seed(4)
    loss = F.cross_entropy(checkpoint(lambda t: F.dropout(model(t), 0.3), inputs, use_reentrant=False), targets)
    loss.backward()
    return [values(y), values(x.grad), round(loss.item(), 3), round(model[0].weight.grad.abs().sum().item(), 3)]


@case
def embedding_and_cells(device):
    torch.manual_seed(0)
    table, gru, lstm = nn.Embedding(20, 4).to(device), nn.GRUCell(3, 4).to(device), nn.LSTMCell(3, 4).to(device)
    y = table(torch.tensor([[1, 3, 3], [0, 1, 19]], device=device))
    y.pow(2).sum().backward()
    hidden = lstm(torch.ones(2, 3, device=device))
    (hidden[0].sum() + hidden[1].pow(2).sum()).backward()
    return [values(t) for t in (y, table.weight.grad, gru(torch.ones(2, 3, device=device)), hidden[0], lstm.weight_ih.grad)]


@case
def losses(device):
    torch.manual_seed(1)
    x, y = torch.randn(4, 5).to(device).requires_grad_(), torch.randint(0, 5, (4,)).to(device)
    target = x.detach()
    found = [F.cross_entropy(x, y, label_smoothing=0.1), F.nll_loss(x.log_softmax(1), y), F.smooth_l1_loss(x, target + 1),
             F.binary_cross_entropy_with_logits(x, (target > 0).float()), F.kl_div(x.log_softmax(1), (2 * target).softmax(1), reduction="batchmean")]
    sum(found).backward()
    return [round(loss.item(), 3) for loss in found] + [round(x.grad.abs().sum().item(), 3)]


@case
def matrices(device):
    a = torch.tensor([[4.0, 1.0], [1.0, 3.0]], device=device)
    return [values(t) for t in (torch.einsum("ij,jk->ik", a, a), torch.baddbmm(torch.zeros(1, 2, 2, device=device), a[None], a[None]),
                                torch.addmv(torch.ones(2, device=device), a, torch.ones(2, device=device)), a @ a.t())]


@case
def generation(device):
    """Top-k, top-p, a cache, and an end that depends on what was drawn: as Hugging Face's generate."""
    torch.manual_seed(0)
    table = nn.Embedding(50, 16).to(device)
    query, key, value, output = (nn.Linear(16, 16).to(device) for _ in range(4))
    head = nn.Linear(16, 50).to(device)
    ids, cache = torch.tensor([[1, 2, 3], [4, 5, 6]], device=device), None
    done, current = torch.zeros(2, dtype=torch.bool, device=device), ids
    torch.manual_seed(7)
    with torch.no_grad():
        while not done.all() and ids.shape[1] < 24:
            hidden = table(current)
            new = (key(hidden), value(hidden))
            cache = new if cache is None else tuple(torch.cat(pair, 1) for pair in zip(cache, new))
            mixed = F.scaled_dot_product_attention(query(hidden)[:, None], cache[0][:, None], cache[1][:, None])[:, 0]
            logits = head(hidden + output(mixed))[:, -1] / 0.7
            logits = logits.masked_fill(logits < logits.topk(10)[0][:, -1:], -float("inf"))
            ordered, order = logits.sort(descending=True)
            cut = ordered.softmax(-1).cumsum(-1) > 0.9
            cut[:, 1:] = cut[:, :-1].clone()
            cut[:, 0] = False
            logits = logits.masked_fill(cut.scatter(1, order, cut), -float("inf"))
            token = torch.where(done[:, None], 0, torch.multinomial(logits.softmax(-1), 1))
            ids, done, current = torch.cat([ids, token], 1), done | (token[:, 0] == 7), token
    return ids.tolist()


@case
def experts(device):
    torch.manual_seed(0)
    x, router, weights = torch.randn(16, 8).to(device), torch.randn(8, 4).to(device), torch.randn(4, 8, 8).to(device)
    share, chosen = (x @ router).softmax(1).topk(2)
    result = torch.zeros_like(x)
    for expert in range(4):
        token, place = (chosen == expert).nonzero(as_tuple=True)
        result.index_add_(0, token, (x[token] @ weights[expert]) * share[token, place, None])
    return [round(result.abs().sum().item(), 2), torch.bincount(chosen.flatten(), minlength=4).tolist()]


@case
def transforms(device):
    energy = lambda w, x: (torch.tanh(x @ w) ** 2).sum()
    w, x = torch.eye(3, device=device) * 0.5, torch.arange(6.0, device=device).view(2, 3)
    return [values(torch.func.grad(energy)(w, x)), values(torch.func.vmap(lambda row: energy(w, row))(x))]


@case
def printed(device):
    return repr(torch.arange(4.0, device=device) * 1.5).replace(", device='cuda:0'", "")


if __name__ == "__main__":
    print(json.dumps({name: run(sys.argv[1]) for name, run in CASES.items()}))
