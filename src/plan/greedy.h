#pragma once
/// Offsets for all buffers, greedily: the next buffer in some order goes into the smallest hole that fits it.

#include <span>

#include "plan/problem.h"

namespace lowtide::engine {

/// In which order buffers are placed.
enum class PackOrder : uint8_t {
  kBySize,      ///< largest first, then longest (XLA's spatial order)
  kByDuration,  ///< longest first, then largest (XLA's temporal order)
  kByEvents,    ///< buffers that live through most births and deaths first, then by size
  kByArea,      ///< size times duration
  kByBirth,     ///< in program order
  kByLoad,      ///< buffers live where the load is highest first, then by size
};

std::vector<int32_t> pack_sequence(const Problem& problem, PackOrder order);
/// Offsets of buffers that aren't in the sequence are 0. Adds to `work` about the number of placed buffers visited.
Placement pack_in_sequence(const Problem& problem, std::span<const int32_t> sequence, int64_t* work = nullptr);
Placement pack_in_order(const Problem& problem, PackOrder order);

/// XLA's choice of two, to predict its arenas.
Placement pack_like_xla(const Problem& problem);

}  // namespace lowtide::engine
