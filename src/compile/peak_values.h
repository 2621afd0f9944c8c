#pragma once
/// What holds the arena where most of it is in use, by names that other plans of the module know as well.

#include <string>
#include <vector>

#include "analysis/account.h"
#include "report/report.h"
#include "schedule/program.h"

namespace lowtide::engine {

using PeakValue = ValueName;

/// Values in the largest storages alive at the step where most is alive.
std::vector<PeakValue> peak_values(const Program& program);

/// The same of a program as another compiler would run it.
std::vector<PeakValue> peak_values(const Account& account);

/// Those of them that this module has, and what they are made of where it has other names for them.
std::vector<const Instruction*> find_values(const Module& module, const std::vector<PeakValue>& values);

}  // namespace lowtide::engine
