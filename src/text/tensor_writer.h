#pragma once
/// A safetensors file whose elements are computed in its own pages: nothing is written twice.

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
  /// Makes room for these tensors: a full disk is a fault here, not later. Faults as those of write_safetensors.
  static Result<TensorWriter> create(const std::string& path, const std::vector<std::pair<std::string, Shape>>& tensors,
                                     const TensorMetadata& metadata = {}, OpenFiles* files = nullptr);
  TensorWriter(TensorWriter&&) noexcept;
  ~TensorWriter();
  /// Where the elements of tensor i go; aligned to them.
  std::span<std::byte> bytes(size_t i) const;
  /// All of them.
  std::span<const std::byte> all() const;
  /// Puts the file into its place; without it nothing of it stays. The bytes are gone then.
  Status commit();

 private:
  struct State;
  TensorWriter();
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::engine
