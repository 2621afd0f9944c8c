#pragma once
/// The table by operation type: which kinds of operation made what is there at the peak, and how many bytes each.

#include <string>
#include <vector>

#include "report/graph.h"
#include "report/report.h"

namespace lowtide::engine {

/// The type XLA's names give: "loop_dus_fusion.4" -> "loop_dus_fusion"; the opcode for a name that says less.
std::string operation_type(const Instruction& instruction);

/// One row per type, most bytes first; the arguments are one row, "param".
std::vector<OperationRow> operation_rows(const Graph& graph, const Account& account);

}  // namespace lowtide::engine
