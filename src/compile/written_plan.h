#pragma once
/// Writes a plan as a program for other tools.

#include <memory>
#include <string>
#include <vector>

#include "compile/compile.h"

namespace lowtide::engine {

/// The plan's module. For a program that is yet to be partitioned, the shardings of its arguments and results are
/// restored; if it has manual regions, whose boundary a plan splits, it is the program after only the rewrites that
/// leave them intact (with a warning), since a partitioner needs them.
Result<std::shared_ptr<const Module>> written_plan(const Module& module, const Compiled& plan,
                                                   std::vector<std::string>& warnings);

}  // namespace lowtide::engine
