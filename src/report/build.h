#pragma once
/// Builds the report of a program: the one place that combines the parts of an explanation.

#include <memory>

#include "analysis/account.h"
#include "report/report.h"
#include "text/input.h"

namespace lowtide::engine {

/// The plan with which `run` would execute the program; `explain` reports it.
struct FreePlan {
  std::shared_ptr<const Module> module;  ///< rewritten; the account's instructions are its own
  Account account;
  int64_t kernels = 0;
  double seconds = 0;  ///< planning time
};

/// A file's name, quoted for a shell if necessary.
std::string shell_word(const std::string& text);
Sizes sizes_of(const Account& account);
LowerBound lower_bound_of(const Floor& floor);

/// `with_boxes`: also the buffers as rectangles of time and address, which the page and the trace draw.
Report build_report(const Input& input, const FreePlan& plan, bool with_boxes = false);

}  // namespace lowtide::engine
