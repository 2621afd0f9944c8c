#pragma once
/// The report of `fit`, computed once; text and JSON only render it. The structs are the public ones.

#include <string>

#include "lowtide/fit_report.h"
#include "passes/pass.h"
#include "report/report.h"

namespace lowtide::engine {

std::string fit_json(const FitReport& report);
std::string fit_text(const FitReport& report, bool utf8);

}  // namespace lowtide::engine
