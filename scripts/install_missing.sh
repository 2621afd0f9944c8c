#!/usr/bin/env bash
# install_missing.sh GROUP...: installs with apt what the named groups (build, test, check, package) need and is not there.
# Group test also makes .venv with the pinned jaxlib and ptxas; without network it says so, and the comparisons with XLA and
# the assembling of PTX are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A packages=(
  [build]="g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev
    llvm-19-dev libdnnl-dev libopenblas-dev libjemalloc-dev"
  [test]="libgtest-dev librapidcheck-dev python3 python3-dev python3-venv pkg-config"
  [package]="dpkg-dev file"
  [check]="clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev python3"
)

missing=()
for group in "$@"; do
  for package in ${packages[$group]}; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
done
if ((${#missing[@]})); then
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  echo "installing: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [[ " $* " == *" test "* ]] && ! cmp -s tests/requirements.txt .venv/requirements.txt; then
  echo "setting up .venv for comparisons with XLA, and ptxas"
  if python3 -m venv .venv && .venv/bin/pip install -q -r tests/requirements.txt; then
    cp tests/requirements.txt .venv/requirements.txt
  else
    echo "no jaxlib, no ptxas: comparisons with XLA and assembling of PTX will be skipped"
  fi
fi
