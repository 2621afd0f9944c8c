"""Arrays in files. A file is validated before any of it is used; a written file appears complete, or not at all."""

from __future__ import annotations

import os

import numpy

from lowtide._arrays import load_npy, load_safetensors, save_npy, save_safetensors
from lowtide._arrays.numpy import array, asarray

__all__ = ["load", "load_safetensors", "save", "save_safetensors", "savez"]


def load(file: str | os.PathLike[str]) -> array | dict[str, array]:
    """The array of an .npy file, whose elements stay in the mapped file; arrays by name of an .npz or .safetensors
    file. ValueError names the file and the problem."""
    name = os.fspath(file)
    return load_npy(name) if name.endswith(".npy") else load_safetensors(name)[0]


def save(file: str | os.PathLike[str], arrays: object) -> None:
    """Writes an array as .npy, or a dict of them as .npz or .safetensors."""
    name = os.fspath(file)
    if not isinstance(arrays, dict):
        save_npy(name if name.endswith(".npy") else name + ".npy", asarray(arrays))
    elif name.endswith(".npz"):
        savez(name, **arrays)
    else:
        save_safetensors(name, {key: asarray(value) for key, value in arrays.items()})


def savez(file: str | os.PathLike[str], **arrays: object) -> None:
    """Writes arrays by name as NumPy's .npz."""
    numpy.savez(file, **{key: numpy.asarray(value) for key, value in arrays.items()})  # type: ignore[arg-type]
