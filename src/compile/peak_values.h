#pragma once
/// The values that occupy the arena at the peak, by names that other plans of the module have as well.

#include <string>
#include <vector>

#include "analysis/account.h"
#include "lowtide/explanation.h"
#include "schedule/program.h"

namespace lowtide::engine {

using PeakValue = ValueName;

/// Values in the largest storages live at the peak.
std::vector<PeakValue> peak_values(const Program& program);

/// The same for a program as another compiler would run it.
std::vector<PeakValue> peak_values(const Account& account);

/// Those of them that this module has, or the values they are computed from if it has other names for them.
std::vector<const Instruction*> find_values(const Module& module, const std::vector<PeakValue>& values);

}  // namespace lowtide::engine
