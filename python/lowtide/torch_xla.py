"""Lowtide as a device of PyTorch/XLA (docs/reactant.md): with the wheel and torch_xla installed, PJRT_DEVICE=LOWTIDE is all it takes.

PyTorch/XLA loads this by the entry point `torch_xla.plugins`; nothing else imports it."""

from torch_xla.experimental.plugins import DevicePlugin

from lowtide._library import library_path


class Plugin(DevicePlugin):
    """One device, this machine's processors. Options come from the environment, as JAX's do (docs/jax.md)."""

    def library_path(self) -> str:
        return library_path()

    def client_create_options(self) -> dict[str, bool]:
        return {"as_text": True}  # PyTorch/XLA takes the shapes of results from the program that it gets back
