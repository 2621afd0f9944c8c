#pragma once
/// Packing problems as tables, in the form of minimalloc and idealloc: one buffer a row, the first row names columns.
///
///   id | buffer | buffer_id       any text, each once
///   lower | begin | start         first step alive
///   upper                         first step no longer alive; or `end`: last step alive
///   size                          bytes
///   alignment                     optional
///   gaps                          optional: steps between, as "5-7 9-12", during which the bytes may hold something
///   else offset                        left out when read; written last
/// Other columns are kept as they are.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "plan/problem.h"

namespace lowtide::engine {

struct BufferTable {
  std::string header;             ///< of the columns kept
  std::vector<std::string> rows;  ///< one per buffer, columns kept
  Problem problem;                ///< buffers in the order of rows; steps counted from the first birth
};

/// Errors name file, line and what was expected there.
Result<BufferTable> parse_buffer_table(const std::string& name, std::string_view text);

/// The rows with their offsets in a last column.
std::string print_buffer_table(const BufferTable& table, const Placement& placement);

}  // namespace lowtide::engine
