#pragma once
/// Compares the values at the peaks of two programs, matched by op name. The structs are the public ones.

#include <string>

#include "lowtide/peak_comparison.h"
#include "report/report.h"
#include "report/text.h"

namespace lowtide::engine {

PeakComparison compare(const Report& before, const Report& after);

std::string to_text(const PeakComparison& comparison, const TextOptions& options);
std::string to_json(const PeakComparison& comparison);

}  // namespace lowtide::engine
