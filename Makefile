# make run     build, then explain a real transformer train step, and run one at toy size, results checked
# make test    build, then every test; comparisons with XLA run in .venv (Python, jaxlib pinned in tests/requirements.txt)
# make build   the command, build/lowtide
# make install PREFIX=/usr/local     the command, the C++ library and its headers;  make package   the same as a .deb
# make check   style, floors, sizes;  make asan | tsan | clang   the tests in another build, without those that match
#              LEAVE_OUT (a regular expression);  make fuzz   fuzz every reader
# Each installs what it lacks with apt (Debian 12).
SHELL := /bin/bash
.DEFAULT_GOAL := build
SECONDS_EACH ?= 60
PREFIX ?= /usr/local

.PHONY: run build install package test check asan tsan clang debug fuzz clean

run: build
	build/lowtide explain examples/gpt_train_step
	build/lowtide run examples/gpt_train_step_small/train_step.hlo.gz \
	  --inputs examples/gpt_train_step_small/inputs.safetensors --expect examples/gpt_train_step_small/results.safetensors

build:
	@scripts/install_missing.sh build
	@test -f build/build.ninja || cmake --preset release -DLOWTIDE_TESTS=OFF
	@cmake --build --preset release --target lowtide

install package:
	@scripts/install_missing.sh build $(filter package,$@)
	@test -f build/build.ninja || cmake --preset release -DLOWTIDE_TESTS=OFF
	@cmake --build --preset release --target lowtide lowtide_shared
	@if [ $@ = install ]; then cmake --install build --prefix $(PREFIX); else cd build && cpack; fi

test:
	@scripts/install_missing.sh build test
	@cmake --preset release -DLOWTIDE_TESTS=ON >/dev/null
	@cmake --build --preset release
	@ctest --preset release

check:
	@scripts/install_missing.sh build check
	@scripts/check.sh

asan tsan clang debug:
	@scripts/install_missing.sh build test check
	@cmake --preset $@ >/dev/null
	@cmake --build --preset $@
	@ctest --preset $@ -LE external $(if $(LEAVE_OUT),-E '$(LEAVE_OUT)')

fuzz:
	@scripts/install_missing.sh build check
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz
	@scripts/fuzz.sh $(SECONDS_EACH)

clean:
	rm -rf build build-*
