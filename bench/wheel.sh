#!/usr/bin/env bash
# wheel.sh WHEEL [PIP OPTIONS]: a fresh environment, the wheel and stock JAX in it, and examples/jax/train.py, which explains a step of
# flax, fits it, trains 20 steps with both and compares the losses; nothing of this tree or of the caller's environment is seen.
# PYTHON names the Python; pip's options say where packages come from.
set -euo pipefail
script=$(realpath "$(dirname "$0")/../examples/jax/train.py")
wheel=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet "$@" "$wheel" "jax==0.10.2" flatbuffers flax optax
cp "$script" "$work/train.py"
cd "$work"
for platform in cpu lowtide,cpu; do
  echo "JAX_PLATFORMS=$platform"
  env -i HOME="$work" PATH=/usr/bin:/bin JAX_PLATFORMS=$platform venv/bin/python train.py | tail -1
done
