#pragma once
/// The entry's arguments by tree path: what they are for, and which of them could be donated.

#include <string>
#include <string_view>
#include <vector>

#include "report/category.h"
#include "report/report.h"

namespace lowtide::engine {

/// "state.params['decoder']['w']" -> {"state", "params", "decoder", "w"}.
std::vector<std::string> path_tokens(std::string_view path);

/// The group of an argument by its path: "params", "opt_state", "batch", or the root of its tree.
std::string argument_group(std::string_view path);

/// Of a leaf of a parameter: its path in the trees of Python's arguments, or the instruction's name where it has none.
std::string argument_path(const Instruction& parameter, const ShapeIndex& index);

/// An argument of the Python function, by the paths of its leaves.
struct PythonArgument {
  std::string name;        ///< "state" for "state.params['w']"; empty where that can't be told
  bool is_certain = true;  ///< false: `a` for "a[0]", which may be of `a` or of `*a`
  bool operator==(const PythonArgument&) const = default;
};
/// By parameter. No names where the module is none of jax.jit's, and where op names aren't paths of distinct leaves.
std::vector<PythonArgument> python_arguments(const Module& module);

/// One row per array of the entry's parameters, largest first.
std::vector<ArgumentRow> argument_rows(const Graph& graph, const Account& account, const Categories& categories);

/// Groups with their bytes, in order of first appearance by parameter number; small ones beyond the sixth are joined.
std::vector<ArgumentGroup> argument_groups(const std::vector<ArgumentRow>& rows);

}  // namespace lowtide::engine
