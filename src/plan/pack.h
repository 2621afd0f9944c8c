#pragma once
/// Offsets for all buffers, greedily: the next buffer in some order goes into the smallest hole that fits it.

#include "plan/problem.h"

namespace lowtide {

/// In which order buffers are placed; several may be tried, the lowest arena wins and earlier ones win ties.
enum class PackOrder : uint8_t {
  kBySize,      ///< largest first, then longest (XLA's spatial order)
  kByDuration,  ///< longest first, then largest (XLA's temporal order)
  kByArea,      ///< size times duration
  kByBirth,     ///< as the program comes to them
  kByLoad,      ///< those alive where the load is highest first, then by size
};

/// XLA's choice of two, to predict its arenas.
Placement pack_like_xla(const Problem& problem);
/// All orders; stops at the first that reaches the load.
Placement pack(const Problem& problem);
Placement pack_in_order(const Problem& problem, PackOrder order);

}  // namespace lowtide
