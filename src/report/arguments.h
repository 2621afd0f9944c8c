#pragma once
/// The entry's arguments by tree path: what they are for, and which of them could be donated.

#include <string>
#include <string_view>
#include <vector>

#include "report/category.h"
#include "report/report.h"

namespace lowtide {

/// "state.params['decoder']['w']" -> {"state", "params", "decoder", "w"}.
std::vector<std::string> path_tokens(std::string_view path);

/// The group of an argument by its path: "params", "opt_state", "batch", or the root of its tree.
std::string argument_group(std::string_view path);

/// One row per array of the entry's parameters, largest first.
std::vector<ArgumentRow> argument_rows(const Graph& graph, const Account& account, const Categories& categories);

/// Groups with their bytes, in order of first appearance by parameter number; small ones beyond the sixth are joined.
std::vector<ArgumentGroup> argument_groups(const std::vector<ArgumentRow>& rows);

}  // namespace lowtide
