#pragma once
/// The decisions of form_work as text: one line per piece of work.

#include <string>

#include "region/work.h"

namespace lowtide::engine {

/// Computations in the module's order. "region add.3 <- p0 p1 : multiply.1 add.3" names outputs, inputs, operations;
/// an output that overwrites an operand is written "dus.1 over p0"; a leaf of a tuple by its number, "while.2#1".
std::string to_text(const ModuleWork& work);
std::string to_text(const Region& region);

struct WorkCount {
  int64_t regions = 0, libraries = 0, controls = 0, views = 0, others = 0;
  int64_t ops = 0;           ///< in regions, clones counted
  int64_t computed = 0;      ///< distinct operations in regions
  int64_t stored_bytes = 0;  ///< of outputs of regions; in-place updates count nothing
  int64_t all_bytes = 0;     ///< of every operation in a region
};
WorkCount count_work(const ModuleWork& work);

}  // namespace lowtide::engine
