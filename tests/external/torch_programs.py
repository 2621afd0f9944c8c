"""torch_programs.py LIBRARY [--control]: PyTorch's functions and three training loops through PyTorch/XLA on Lowtide, against PyTorch
itself on the CPU. Programs go as HLO protobufs, and as StableHLO. --control: a result is spoilt, which must be noticed."""
import os
import sys

sys.dont_write_bytecode = True
from platforms import ROOT, are_missing, environment, run_again  # noqa: E402

RTOL = ATOL = 2e-3


def functions(torch):
    """name -> (function, arguments)"""
    F, r = torch.nn.functional, torch.randn
    x, y, images, places = r(33, 17), r(17, 29), r(4, 3, 32, 32), torch.randint(0, 33, (50,))
    spd = lambda x: x.T @ x + torch.eye(17, device=x.device)
    on = lambda x, *dims: torch.ones(*dims, device=x.device)
    return {
        "products": (lambda x, y: (x @ y, torch.einsum("ij,jk->ki", x, y), (x.bfloat16() @ y.bfloat16()).float()), (x, y)),
        "softmax": (lambda x: (F.softmax(x, -1), torch.logsumexp(x, 0), F.cross_entropy(x, places[:33].to(x.device) % 17)), (x,)),
        "convolutions": (lambda a: (F.conv2d(a, on(a, 8, 3, 5, 5), padding=2, stride=2), F.conv_transpose2d(a, on(a, 3, 8, 3, 3), stride=2)), (images,)),
        "groups": (lambda a: F.conv1d(a, on(a, 8, 2, 3), groups=2, dilation=2), (r(2, 4, 20),)),
        "pools": (lambda a: (F.max_pool2d(a, 3, 2), F.avg_pool2d(a, 2), F.adaptive_avg_pool2d(a, (7, 5))), (images,)),
        "images": (lambda a: (F.interpolate(a, scale_factor=2, mode="bilinear"), F.unfold(a, 3), F.pad(a, (1, 2, 3, 4), mode="reflect")), (images,)),
        "norms": (lambda a: (F.layer_norm(a, (32, 32)), F.group_norm(a, 3), F.instance_norm(a)), (images,)),
        "sorts": (lambda x: (torch.sort(x, 1), torch.topk(x, 5), x.argmax(1), x.median(1).values), (x,)),
        "sums": (lambda x: (torch.cumsum(x, 0), torch.cumprod(x, 0), x.var(0), x.std(), x.norm()), (x,)),
        "places": (lambda x, i: (x[i], torch.zeros_like(x).index_add(0, i, on(x, 50, 17)), torch.zeros_like(x).scatter(1, x.argsort(1), x)), (x, places)),
        "counts": (lambda i: (torch.bincount(i, minlength=40), F.one_hot(i, 33), torch.bucketize(i, torch.arange(0, 30, 3, device=i.device))), (places,)),
        "masks": (lambda x: (x.masked_fill(x > 0, 7.0), x[x > 0.5], torch.nonzero(x > 0.5), x.log().nan_to_num()), (x,)),
        "factors": (lambda x: (torch.linalg.qr(x)[1].abs(), torch.linalg.cholesky(spd(x)), torch.linalg.eigvalsh(spd(x)), torch.linalg.svdvals(x)), (x,)),
        "solvers": (lambda x: (torch.linalg.inv(spd(x)), torch.linalg.solve(spd(x), on(x, 17, 2)), torch.linalg.solve_triangular(spd(x).tril(), x.T, upper=False)), (x,)),
        "attention": (lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), (r(2, 4, 16, 8),)),
        "integers": (lambda i: (i // 3, i % 7, i << 2, i.bool(), i.float().round()), (places,)),
        "moves": (lambda x: (torch.roll(x, 3, 0), torch.flip(x, [1]), x.T.contiguous(), x[::2, 1:9:3], torch.stack([x, x], 1), x.repeat(2, 3)), (x,)),
        "functions": (lambda x: (x.erf(), x.lgamma(), x.digamma(), x.double().exp(), torch.atan2(x, x + 1), F.gelu(x), F.softplus(x)), (x,)),
        "complex": (lambda x: (torch.view_as_real(torch.fft.fft(x)), torch.view_as_real(torch.complex(x, x) * torch.complex(x, -x))), (x,)),
        "in place": (lambda x: x.clone().index_copy_(0, torch.arange(5, device=x.device), x[10:15]).mul_(2)[3].add_(1), (x,)),
    }


def models(torch):
    """name -> (model, input, target): three that are trained by cross entropy."""
    nn = torch.nn

    class Text(nn.Module):
        def __init__(self, recurrent):
            super().__init__()
            self.words, self.out = nn.Embedding(100, 32), nn.Linear(32, 100)
            self.inner = nn.LSTM(32, 32, batch_first=True) if recurrent else nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)

        def forward(self, tokens):
            inner = self.inner(self.words(tokens))
            return self.out(inner[0] if isinstance(inner, tuple) else inner).flatten(0, 1)

    def images():
        return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 49, 10))

    tokens = torch.randint(0, 100, (8, 13))
    return {
        "CNN": (images, torch.randn(16, 1, 14, 14), torch.randint(0, 10, (16,))),
        "transformer": (lambda: Text(False), tokens[:, :-1], tokens[:, 1:].flatten()),
        "LSTM": (lambda: Text(True), tokens[:, :-1], tokens[:, 1:].flatten()),
    }


def train(torch, device, make, x, target):
    torch.manual_seed(1)
    model = make().to(device)
    optimiser = torch.optim.AdamW(model.parameters(), 1e-2)
    x, target, losses = x.to(device), target.to(device), []
    for _ in range(10):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimiser.step()
        if device != "cpu":
            import torch_xla
            torch_xla.sync()
        losses.append(loss.detach())
    return torch.stack(losses)


def leaves(torch, value):
    return [value.cpu()] if isinstance(value, torch.Tensor) else [leaf for part in value for leaf in leaves(torch, part)]


def child(control):
    from torch_xla.experimental import plugins
    import torch
    import torch_xla
    from lowtide.torch_xla import Plugin
    plugins.register_plugin("LOWTIDE", Plugin())
    torch.manual_seed(0)
    device, wrong = torch_xla.device(), []
    every = {name: lambda d, f=function, a=arguments: f(*(x.to(d) for x in a)) for name, (function, arguments) in functions(torch).items()}
    every |= {name: lambda d, parts=parts: train(torch, d, *parts) for name, parts in models(torch).items()}
    # PyTorch/XLA first: once it has computed gradients on the CPU, PyTorch takes no other device into account.
    found = {name: leaves(torch, run(device)) for name, run in every.items()}
    for name, run in every.items():
        wanted = leaves(torch, run("cpu"))
        for got, want in zip(found[name], wanted, strict=True):
            if control and name == "sums":
                want = want + 0.1
            equal = got.shape == want.shape and got.dtype == want.dtype and torch.allclose(got.double(), want.double(), RTOL, ATOL, equal_nan=True)
            wrong += [] if equal else [name]
    words = torch.rand(1000, 1000, device=device)
    if not abs(words.mean().item() - 0.5) < 0.01 or not abs(words.std().item() - 12 ** -0.5) < 0.01:
        wrong.append("random numbers")
    print(f"{len(every)} programs, wrong: {sorted(set(wrong))}")
    return int(set(wrong) != ({"sums"} if control else set()))


def main():
    if are_missing("torch", "torch_xla"):
        return 0
    if sys.argv[1] == "--child":
        return child("--control" in sys.argv)
    words, failed = [w for w in sys.argv[2:] if w == "--control"], 0
    for as_stablehlo in "01":
        variables = environment(sys.argv[1], PJRT_DEVICE="LOWTIDE", XLA_STABLEHLO_COMPILE=as_stablehlo)
        said = run_again("StableHLO" if as_stablehlo == "1" else "HLO", os.path.join(ROOT, "tests/external/torch_programs.py"), "--child", *words, **variables)
        print(said or "", end="")
        failed += said is None
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
