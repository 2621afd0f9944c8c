#pragma once
/// The names by which a program's user knows its arrays, and by which a file of tensors does.

#include <string>
#include <vector>

#include "ir/module.h"
#include "text/safetensors.h"

namespace lowtide::engine {

/// The names of the arrays in the entry's arguments, or in its results, in the order of their numbers:
/// "state.params['w']", "result['loss']". Empty if unknown. Results have the names that JAX gives them; otherwise, that
/// of the argument in whose memory the result lives, or else the scope of the operation that computes it.
std::vector<std::string> argument_paths(const Module& module);
std::vector<std::string> result_paths(const Module& module);

/// Gives each array of a file the name by which it is requested: prefix and number ("arg0"). The file may name arrays
/// so, or by `arg_0`, or by numpy's `arr_0`; or all of them by their paths, written as JAX does or with slashes, or by
/// the end of a path if it is unique. Errors: a file with both numbers and paths, and names of no array or of several,
/// with similar names.
///
/// names_by_number: the same for names without a file; returns the name for each number. `where`: their source, for
/// errors.
Result<std::vector<std::string>> names_by_number(const std::vector<std::string>& names, const std::string& where,
                                                 const std::string& prefix, const std::vector<std::string>& paths);
Status name_by_number(TensorFile& file, const std::string& prefix, const std::vector<std::string>& paths);

}  // namespace lowtide::engine
