#pragma once
/// Exports from a shared library: only what is marked so.

#define LOWTIDE_PUBLIC __attribute__((visibility("default")))
