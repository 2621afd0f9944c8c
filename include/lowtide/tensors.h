#pragma once
/// Files of arrays: safetensors, and numpy's .npz to read. Elements are row-major, without gaps, little endian.

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

/// An opened file (Session::open_tensors). Its elements are read where they are asked for: a file of gigabytes costs
/// its header. Shared: copies are of the same file.
class LOWTIDE_PUBLIC TensorFile {
 public:
  const std::string& path() const;
  std::vector<std::string> names() const;
  /// kInput where there is none of this name.
  Result<ProgramArray> array(const std::string& name) const;
  /// Its elements, ProgramArray::bytes of them, to where the caller wants them.
  Result<void> read(const std::string& name, void* elements) const;
  /// The string pairs of `__metadata__`.
  const std::map<std::string, std::string>& metadata() const;
  /// kInput where the file was written to since it was opened: what was read of it may be of both.
  Result<void> check_unchanged() const;

  struct State;
  explicit TensorFile(std::shared_ptr<const State> state);
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// A safetensors file whose elements are written into its own pages (Session::create_tensors): nothing is written
/// twice, and nothing half-written is ever seen.
class LOWTIDE_PUBLIC TensorWriter {
 public:
  /// Where the elements of array `number` go, ProgramArray::bytes of them, aligned to an element; null behind commit().
  void* data(size_t number) const;
  /// Puts the file into its place; without it nothing of it stays.
  Result<void> commit();

  struct State;
  explicit TensorWriter(std::shared_ptr<State> state);
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// By array the number of the name that means it: `prefix` and a number, or its tree path, written as JAX does or with
/// slashes, or the end of one that no other has. kInput where one is missing or may be two; `where` stands in messages.
LOWTIDE_PUBLIC Result<std::vector<size_t>> match_names(const std::vector<std::string>& names,
                                                       const std::vector<ProgramArray>& arrays,
                                                       const std::string& prefix = "arg",
                                                       const std::string& where = "the arguments");

}  // namespace lowtide
