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
  kFirstCome,   ///< as the program comes to them, of those that come together the first to go first
};

/// XLA's choice of two, to predict its arenas.
Placement pack_like_xla(const Problem& problem);
/// XLA's "fast merge", with which its TPU backend packs: first come, and a buffer keeps its bytes from its first birth
/// to its last death.
Placement pack_first_come(Problem problem);
/// All orders; stops at the first that reaches the load.
Placement pack(const Problem& problem);
Placement pack_in_order(const Problem& problem, PackOrder order);

}  // namespace lowtide
