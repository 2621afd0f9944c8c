#pragma once
/// A plan as a program that others read.

#include <memory>
#include <string>
#include <vector>

#include "compile/compile.h"

namespace lowtide::engine {

/// The plan's module. Of a program that is still to be partitioned: with the shardings of its arguments and results
/// again; and where it has manual regions, whose border a plan takes apart, the program after the rewrites that leave
/// them whole (a warning says so): a partitioner needs them.
Result<std::shared_ptr<const Module>> written_plan(const Module& module, const Compiled& plan,
                                                   std::vector<std::string>& warnings);

}  // namespace lowtide::engine
