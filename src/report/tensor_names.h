#pragma once
/// Names of a program's arrays as its user knows them, and what a file of tensors calls them.

#include <string>
#include <vector>

#include "ir/module.h"
#include "text/safetensors.h"

namespace lowtide::engine {

/// Arrays of the entry's arguments, or of its results, in the order of their numbers: "state.params['w']",
/// "result['loss']". Empty where nothing says one. Results have those that JAX gives them; else, where one lives in an
/// argument, that argument's, else the scope of what makes it.
std::vector<std::string> argument_paths(const Module& module);
std::vector<std::string> result_paths(const Module& module);

/// Gives each array of a file the name by which it is asked for: prefix and number ("arg0"). It may have that, or
/// `arg_0`, or numpy's `arr_0`; or all of them go by their paths, written as JAX does or with slashes, or by the end of
/// one that no other has. Faults: arrays that go by both, names of none or of several, with those that are near.
///
/// names_by_number: the same of names alone, `where` they stand: by number the name that means it.
Result<std::vector<std::string>> names_by_number(const std::vector<std::string>& names, const std::string& where,
                                                 const std::string& prefix, const std::vector<std::string>& paths);
Status name_by_number(TensorFile& file, const std::string& prefix, const std::vector<std::string>& paths);

}  // namespace lowtide::engine
