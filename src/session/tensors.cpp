#include "lowtide/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "report/tensor_names.h"
#include "session/guard.h"
#include "session/state.h"
#include "session/tensor_state.h"

namespace lowtide {

using engine::guarded;

namespace engine {

std::optional<Shape> shape_of(const ProgramArray& array) {
  const auto type = type_from_name(array.type);
  if (!type || !is_array_type(*type)) return {};
  return Shape::array(*type, array.dims);
}

}  // namespace engine

TensorFile::TensorFile(std::shared_ptr<const State> state) : state_(std::move(state)) {}

const std::string& TensorFile::path() const { return state_->file.name(); }
std::vector<std::string> TensorFile::names() const { return state_->file.names(); }
const std::map<std::string, std::string>& TensorFile::metadata() const { return state_->file.metadata(); }

Result<ProgramArray> TensorFile::array(const std::string& name) const {
  return guarded([&]() -> Result<ProgramArray> {
    if (!state_->file.contains(name)) return Error{ErrorKind::kInput, fmt::format("{}: no tensor {}", path(), name)};
    const engine::Shape& shape = state_->file.shape_of(name);
    return ProgramArray{.path = name,
                        .type = std::string(engine::type_name(shape.type)),
                        .dims = shape.dims,
                        .bytes = engine::logical_bytes(shape)};
  });
}

Result<void> TensorFile::read(const std::string& name, void* elements) const {
  return guarded([&]() -> Result<void> {
    LT_TAKE(const engine::Value value, state_->file.load(name));
    if (!value->bytes().empty()) std::memcpy(elements, value->bytes().data(), value->bytes().size());
    return {};
  });
}

Result<void> TensorFile::check_unchanged() const {
  return guarded([&]() -> Result<void> {
    LT_PASS(state_->file.check_unchanged());
    return {};
  });
}

TensorWriter::TensorWriter(std::shared_ptr<State> state) : state_(std::move(state)) {}

void* TensorWriter::data(size_t number) const {
  return state_->is_committed ? nullptr : state_->writer.bytes(number).data();
}

Result<void> TensorWriter::commit() {
  return guarded([&]() -> Result<void> {
    if (state_->is_committed) return Error{ErrorKind::kUsage, "the file is in its place already"};
    state_->is_committed = true;
    LT_PASS(state_->writer.commit());
    return {};
  });
}

Result<TensorFile> Session::open_tensors(const std::string& path) const {
  return guarded([&]() -> Result<TensorFile> {
    LT_TAKE(engine::TensorFile file, engine::TensorFile::open(path, state_->files));
    auto state = std::make_shared<TensorFile::State>(state_->context, std::move(file));
    return TensorFile(std::move(state));
  });
}

Result<TensorWriter> Session::create_tensors(const std::string& path, std::span<const ProgramArray> arrays,
                                             const std::string& prefix) const {
  return guarded([&]() -> Result<TensorWriter> {
    std::vector<std::pair<std::string, engine::Shape>> tensors;
    engine::TensorMetadata metadata;
    std::vector<int64_t> bytes;
    for (const ProgramArray& array : arrays) {
      const std::string name = fmt::format("{}{}", prefix, tensors.size());
      const auto shape = engine::shape_of(array);
      if (!shape) return Error{ErrorKind::kUnsupported, fmt::format("{}: there is no type `{}`", name, array.type)};
      if (!array.path.empty()) metadata[name] = array.path;
      tensors.emplace_back(name, *shape);
      bytes.push_back(engine::logical_bytes(*shape));
    }
    LT_TAKE(engine::TensorWriter writer, engine::TensorWriter::create(path, tensors, metadata, state_->files));
    auto state = std::make_shared<TensorWriter::State>(state_->context, std::move(writer), std::move(bytes));
    return TensorWriter(std::move(state));
  });
}

Result<std::vector<size_t>> match_names(const std::vector<std::string>& names, const std::vector<ProgramArray>& arrays,
                                        const std::string& prefix, const std::string& where) {
  return guarded([&]() -> Result<std::vector<size_t>> {
    std::vector<std::string> paths;
    for (const ProgramArray& array : arrays) paths.push_back(array.path);
    LT_TAKE(const auto found, engine::names_by_number(names, where, prefix, paths));
    std::vector<size_t> places;
    for (const std::string& name : found)
      places.push_back(static_cast<size_t>(std::ranges::find(names, name) - names.begin()));
    return places;
  });
}

}  // namespace lowtide
