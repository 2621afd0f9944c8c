#pragma once
/// The tables of the text report.

#include <string>
#include <vector>

#include "report/report.h"
#include "report/text.h"

namespace lowtide::engine {

using Lines = std::vector<std::string>;

/// Rows of the peak: a line of columns each, then why it is live and what frees it.
void add_peak_table(const std::vector<PeakRow>& rows, int64_t whole, const TextOptions& options, Lines& lines);
/// XLA's allocations, each with the values alive in it at the peak.
void add_allocation_table(const std::vector<PeakRow>& rows, int64_t whole, const TextOptions& options, Lines& lines);
void add_operation_table(const Report& report, const TextOptions& options, Lines& lines);
void add_argument_table(const Report& report, const TextOptions& options, Lines& lines);

/// " 21 %" of the whole.
std::string share_of(int64_t bytes, int64_t whole);

}  // namespace lowtide::engine
