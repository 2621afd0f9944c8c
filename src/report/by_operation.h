#pragma once
/// The table by operation type: how many of the bytes live at the peak each kind of operation computed.

#include <string>
#include <vector>

#include "report/graph.h"
#include "report/report.h"

namespace lowtide::engine {

/// The type in a name given by XLA: "loop_dus_fusion.4" -> "loop_dus_fusion"; the opcode if the name says less.
std::string operation_type(const Instruction& instruction);

/// One row per type, most bytes first; the arguments together are one row, "param".
std::vector<OperationRow> operation_rows(const Graph& graph, const Account& account);

}  // namespace lowtide::engine
