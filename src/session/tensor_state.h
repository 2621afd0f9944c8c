#pragma once
/// The state of the public tensor files.

#include <memory>
#include <vector>

#include "base/context.h"
#include "lowtide/tensors.h"
#include "text/safetensors.h"
#include "text/tensor_writer.h"

namespace lowtide {

struct TensorFile::State {
  std::shared_ptr<engine::Context> context;  ///< records that its pages are mapped
  engine::TensorFile file;
};

struct TensorWriter::State {
  std::shared_ptr<engine::Context> context;
  engine::TensorWriter writer;
  std::vector<int64_t> bytes;  ///< of each array
  bool is_committed = false;   ///< its pages are gone
};

namespace engine {

/// Nothing if no type has this name.
std::optional<Shape> shape_of(const lowtide::ProgramArray& array);

}  // namespace engine
}  // namespace lowtide
