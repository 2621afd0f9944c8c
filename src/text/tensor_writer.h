#pragma once
/// Writes a safetensors file whose elements are computed directly in its mapped pages: nothing is written twice.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/shape.h"
#include "text/safetensors.h"

namespace lowtide::engine {

class TensorWriter {
 public:
  /// Reserves space for these tensors: a full disk is an error here, not later. Errors are those of write_safetensors.
  static Result<TensorWriter> create(const std::string& path, const std::vector<std::pair<std::string, Shape>>& tensors,
                                     const TensorMetadata& metadata = {}, OpenFiles* files = nullptr);
  TensorWriter(TensorWriter&&) noexcept;
  ~TensorWriter();
  /// The memory for the elements of tensor i, aligned to an element.
  std::span<std::byte> bytes(size_t i) const;
  /// The whole file's bytes.
  std::span<const std::byte> all() const;
  /// Moves the file to its final name; without this call it is discarded. Afterwards bytes() is invalid.
  Status commit();

 private:
  struct State;
  TensorWriter();
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::engine
