#pragma once
/// Files of arrays: safetensors, and, for reading only, numpy's .npz. Elements are row-major, without gaps, little
/// endian.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/program_array.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// An opened file (Session::open_tensors). Its elements are read when they are asked for: opening a file of gigabytes
/// reads only its header. Copies refer to the same file.
class LOWTIDE_PUBLIC TensorFile {
 public:
  const std::string& path() const;
  std::vector<std::string> names() const;
  /// kInput if there is no array of this name.
  Result<ProgramArray> array(const std::string& name) const;
  /// Copies its elements, ProgramArray::bytes bytes, to the caller's memory.
  Result<void> read(const std::string& name, void* elements) const;
  /// The string pairs of `__metadata__`.
  const std::map<std::string, std::string>& metadata() const;
  /// kInput if the file was changed since it was opened: data read from it may then mix old and new content.
  Result<void> check_unchanged() const;

  struct State;
  explicit TensorFile(std::shared_ptr<const State> state);
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// A safetensors file whose elements are written into its own pages (Session::create_tensors): nothing is written
/// twice, and the file is never visible half-written.
class LOWTIDE_PUBLIC TensorWriter {
 public:
  /// Where the elements of array `number` go, ProgramArray::bytes bytes, aligned to an element; null after commit().
  void* data(size_t number) const;
  /// Moves the file to its final name; without this call the file is discarded.
  Result<void> commit();

  struct State;
  explicit TensorWriter(std::shared_ptr<State> state);
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// For each array the index of the name that denotes it: `prefix` and a number, or its tree path, written as JAX does
/// or with slashes, or an unambiguous suffix of that. kInput if one is missing or ambiguous; `where` appears in
/// messages.
LOWTIDE_PUBLIC Result<std::vector<size_t>> match_names(const std::vector<std::string>& names,
                                                       const std::vector<ProgramArray>& arrays,
                                                       const std::string& prefix = "arg",
                                                       const std::string& where = "the arguments");

}  // namespace lowtide
