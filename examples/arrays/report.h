#pragma once
// What every example ends with: the peak that was counted beside the least that any executor needs.
#include <lowtide/arrays.h>

#include <cstdio>

inline void print_peak(const char* name, size_t peak, int64_t floor) {
  std::printf("%s: peak %.2f MB, floor %.2f MB, %.2fx\n", name, static_cast<double>(peak) / 1e6,
              static_cast<double>(floor) / 1e6, static_cast<double>(peak) / static_cast<double>(floor));
}
