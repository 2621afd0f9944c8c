#!/usr/bin/env python3
"""Training steps of PyTorch models through PyTorch/XLA, unchanged, with PJRT_DEVICE=CPU (XLA) and PJRT_DEVICE=LOWTIDE: losses, seconds until
the second step is done (compiling), seconds a step after it, and how far the resident set grows beyond imports and the model.

  bench/torch_models.py [--library build/liblowtide_pjrt.so] [--steps 8] [--only gpt2,bert,resnet,lstm]

Needs torch, torch_xla, torchvision and transformers, in the Python that runs this. Exit 1 where losses differ by more than 1e-3."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ("gpt2", "bert", "resnet", "lstm")


def model(name, torch):
    """(model, loss of the model and a batch, batch)"""
    words = lambda *dims: torch.randint(0, 8192, dims)
    entropy = torch.nn.functional.cross_entropy
    if name == "gpt2":
        import transformers
        config = transformers.GPT2Config(n_layer=4, n_head=4, n_embd=256, vocab_size=8192, n_positions=256, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
        return transformers.GPT2LMHeadModel(config), lambda m, x: m(x, labels=x).loss, (words(4, 256),)
    if name == "bert":
        import transformers
        config = transformers.BertConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
        return transformers.BertForMaskedLM(config), lambda m, x: m(x, labels=x).loss, (words(4, 128),)
    if name == "resnet":
        import torchvision
        return torchvision.models.resnet18(num_classes=10), lambda m, x, y: entropy(m(x), y), (torch.randn(16, 3, 96, 96), torch.randint(0, 10, (16,)))

    class Lstm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.inner, self.out = torch.nn.Embedding(8192, 256), torch.nn.LSTM(256, 256, 2, batch_first=True), torch.nn.Linear(256, 8192)

        def forward(self, x):
            return self.out(self.inner(self.words(x))[0])

    return Lstm(), lambda m, x: entropy(m(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten()), (words(8, 33),)


def child(name, steps):
    import torch
    import torch_xla
    if os.environ["PJRT_DEVICE"] == "LOWTIDE":
        from lowtide.torch_xla import Plugin
        from torch_xla.experimental import plugins
        plugins.register_plugin("LOWTIDE", Plugin())

    def resident(key):
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key)) / 1024

    torch.manual_seed(0)
    net, loss, batch = model(name, torch)
    device, before = torch_xla.device(), resident("VmRSS:")
    net, batch = net.to(device), [x.to(device) for x in batch]
    optimiser = torch.optim.AdamW(net.parameters(), 3e-4)
    seconds, losses = [], []
    for _ in range(steps):
        start = time.time()
        optimiser.zero_grad()
        value = loss(net, *batch)
        value.backward()
        optimiser.step()
        torch_xla.sync()
        losses.append(value.item())
        seconds.append(time.time() - start)
    print(json.dumps({"losses": losses, "first": sum(seconds[:2]), "step": min(seconds[2:]), "MiB": resident("VmHWM:") - before}))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--library", default=str(ROOT / "build" / "liblowtide_pjrt.so"))
    arguments.add_argument("--steps", type=int, default=8)
    arguments.add_argument("--only", default=",".join(MODELS))
    arguments.add_argument("--child")
    options = arguments.parse_args()
    if options.child:
        return child(options.child, options.steps)
    print(f"{'':8} {'first steps, s':>22} {'s a step':>22} {'MiB':>20}   last loss")
    print(f"{'':8}" + f" {'XLA':>7} {'Lowtide':>7} {'':>6}" * 3)
    wrong = []
    for name in options.only.split(","):
        ran = {}
        for device in ("CPU", "LOWTIDE"):
            variables = os.environ | {"PJRT_DEVICE": device, "LOWTIDE_PJRT_LIBRARY": options.library, "PYTHONPATH": str(ROOT / "python"), "LOWTIDE_CACHE": "off"}
            said = subprocess.run([sys.executable, __file__, "--child", name, "--steps", str(options.steps)], env=variables, capture_output=True, text=True)
            if said.returncode:
                sys.exit(f"{name} on {device}: " + said.stderr[-2000:])
            ran[device] = json.loads(said.stdout.splitlines()[-1])
        xla, ours = ran["CPU"], ran["LOWTIDE"]
        print(f"{name:8}" + "".join(f" {xla[k]:7.{d}f} {ours[k]:7.{d}f} {ours[k] / xla[k]:6.2f}" for k, d in (("first", 1), ("step", 3), ("MiB", 0)))
              + f"   {xla['losses'][-1]:.5f} {ours['losses'][-1]:.5f}", flush=True)
        if max(abs(a - b) / max(1, abs(a)) for a, b in zip(xla["losses"], ours["losses"])) > 1e-3:
            wrong.append(name)
    print("wrong:", wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
