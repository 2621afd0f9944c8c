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

/// The path of a parameter's leaf in the trees of Python's arguments, or the instruction's name if it has no path.
std::string argument_path(const Instruction& parameter, const ShapeIndex& index);

/// An argument of the Python function, known by the paths of its leaves.
struct PythonArgument {
  std::string name;        ///< "state" for "state.params['w']"; empty if unknown
  bool is_certain = true;  ///< false: `a` for "a[0]", which may belong to `a` or to `*a`
  bool operator==(const PythonArgument&) const = default;
};
/// By parameter. No names if the module isn't jax.jit's, or op names aren't paths of distinct leaves.
std::vector<PythonArgument> python_arguments(const Module& module);

/// One row per array of the entry's parameters, largest first.
std::vector<ArgumentRow> argument_rows(const Graph& graph, const Account& account, const Categories& categories);

/// Groups with their bytes, in order of first appearance by parameter number; small ones beyond the sixth are joined.
std::vector<ArgumentGroup> argument_groups(const std::vector<ArgumentRow>& rows);

}  // namespace lowtide::engine
