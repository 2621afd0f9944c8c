#pragma once
/// Modelled times, in nanoseconds of one core of the machine that docs/design names; only their ratios matter.

#include "region/region.h"

namespace lowtide {

inline constexpr double kNsPerByte = 0.08;        ///< to or from memory
inline constexpr double kNsPerCachedRead = 0.02;  ///< an element that another reader has brought near
inline constexpr double kNsPerDependentStep = 2;  ///< of a fold that waits for its last step
inline constexpr double kNsPerScattered = 1;      ///< an element added where an index says
inline constexpr double kNsPerKernel = 1500;      ///< to start and join one

/// One element of the operation, its operands given. For those with loops inside (reduce, dot, while): all of it.
double element_ns(const Instruction& i);

/// What the operation adds to a kernel's code, in plain operations: functions are written out, and compiling takes as
/// long as that is.
int32_t code_size(const Instruction& i);
int32_t code_size(const Region& region);

/// The kernel: arithmetic on two cores, bytes through one memory, the start.
double cost(const Region& region);

}  // namespace lowtide
