#pragma once
/// Exports from a shared library: only declarations with this mark.

#define LOWTIDE_PUBLIC __attribute__((visibility("default")))
