#include "text/tensor_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "base/files.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "text/safetensors_types.h"

namespace lowtide::engine {
namespace {

constexpr size_t kLengthFieldBytes = 8;
constexpr size_t kAlignment = 64;  ///< alignment of the first element

/// Everything before the elements, and the offset of each tensor's elements after it. Wider elements come first, so
/// that all of them are aligned to their size.
struct Head {
  std::string text;
  std::vector<size_t> begins, sizes;
  size_t total = 0;  ///< bytes of the whole file
};

Result<Head> head_of(const std::vector<std::pair<std::string, Shape>>& tensors, const TensorMetadata& metadata) {
  Head head;
  head.begins.resize(tensors.size());
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](size_t i) { return stored_bytes(tensors[i].second.type); });
  size_t at = 0;
  for (const auto& [name, shape] : tensors) {
    if (!shape.is_array() || !tensor_carrier(shape.type)) {
      return Status::unsupported(fmt::format("{}: safetensors can't hold {}", name, to_string(shape)));
    }
    head.sizes.push_back(static_cast<size_t>(element_count(shape) * stored_bytes(shape.type)));
  }
  for (const size_t i : order) {
    head.begins[i] = at;
    at += head.sizes[i];
  }
  const auto quoted = [](const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  // Written as text: in ordered JSON objects each insertion searches all keys.
  std::string json = "{";
  if (!metadata.empty())
    json +=
        "\"__metadata__\":" + nlohmann::json(metadata).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, shape] = tensors[i];
    json += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", json.size() > 1 ? "," : "",
                        quoted(name), tensor_type_text(*tensor_carrier(shape.type)), fmt::join(shape.dims, ","),
                        head.begins[i], head.begins[i] + head.sizes[i]);
  }
  json += "}";
  const uint64_t length =
      (json.size() + kLengthFieldBytes + kAlignment - 1) / kAlignment * kAlignment - kLengthFieldBytes;
  head.text.assign(reinterpret_cast<const char*>(&length), kLengthFieldBytes);
  head.text += json;
  head.text.resize(kLengthFieldBytes + length, ' ');
  head.total = head.text.size() + at;
  for (size_t& begin : head.begins) begin += head.text.size();
  return head;
}

Status cannot_write(const std::string& path, const std::string& why) {
  return Status::input(fmt::format("can't write {}: {}", path, why));
}

}  // namespace

struct TensorWriter::State {
  std::string path;
  Head head;
  std::optional<PartialFile> file;  ///< none: a pipe or device, which is written at the end
  std::optional<MappedFile> registered;
  std::byte* mapped = nullptr;  ///< the file's pages; null if its file system can't reserve space for them
  Pages pages;                  ///< then the content, which is written at the end
  std::byte* data() const { return mapped ? mapped : pages.data(); }

  ~State() { unmap(); }
  void unmap() {
    registered.reset();
    if (mapped) ::munmap(mapped, head.total);
    mapped = nullptr;
  }
  Status open(OpenFiles* files);
};

Status TensorWriter::State::open(OpenFiles* files) {
  if (!is_special_file(path)) {
    auto partial = PartialFile::create(path, files);
    if (!partial.ok()) return Status::input(partial.status().message());
    file.emplace(partial.take());
    const int error = ::fallocate(file->descriptor(), 0, 0, static_cast<off_t>(head.total)) == 0 ? 0 : errno;
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
      return cannot_write(path, fmt::format("{} ({} bytes are needed)", std::strerror(error), head.total));
    }
    void* const where = error == 0
                            ? ::mmap(nullptr, head.total, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor(), 0)
                            : MAP_FAILED;
    if (where != MAP_FAILED) {
      mapped = static_cast<std::byte*>(where);
      registered.emplace(files, where, head.total, path);
    }
  }
  if (!mapped) {
    LT_ASSIGN_OR_RETURN(pages, Pages::make(static_cast<int64_t>(head.total), "the file of the results"));
  }
  std::memcpy(data(), head.text.data(), head.text.size());
  return {};
}

TensorWriter::TensorWriter() : state_(std::make_unique<State>()) {}
TensorWriter::TensorWriter(TensorWriter&&) noexcept = default;
TensorWriter::~TensorWriter() = default;

Result<TensorWriter> TensorWriter::create(const std::string& path,
                                          const std::vector<std::pair<std::string, Shape>>& tensors,
                                          const TensorMetadata& metadata, OpenFiles* files) {
  TensorWriter writer;
  writer.state_->path = path;
  LT_ASSIGN_OR_RETURN(writer.state_->head, head_of(tensors, metadata));
  LT_RETURN_IF_ERROR(writer.state_->open(files));
  return writer;
}

std::span<std::byte> TensorWriter::bytes(size_t i) const {
  return {state_->data() + state_->head.begins[i], state_->head.sizes[i]};
}

std::span<const std::byte> TensorWriter::all() const { return {state_->data(), state_->head.total}; }

Status TensorWriter::commit() {
  State& s = *state_;
  if (!s.mapped) {
    const int target = s.file ? s.file->descriptor() : ::open(s.path.c_str(), O_WRONLY | O_CLOEXEC);
    const std::string_view content(reinterpret_cast<const char*>(s.pages.data()), s.head.total);
    int error = target < 0 ? errno : write_all(target, content);
    if (error == 0 && s.file && ::ftruncate(target, static_cast<off_t>(s.head.total)) != 0) error = errno;
    if (!s.file && target >= 0) ::close(target);
    if (error != 0) return cannot_write(s.path, std::strerror(error));
  }
  s.unmap();
  if (!s.file) return {};
  const Status status = s.file->commit();
  return status.ok() ? status : Status::input(status.message());
}

Status write_safetensors(const std::string& path, const NamedTensors& tensors, const TensorMetadata& metadata) {
  std::vector<std::pair<std::string, Shape>> shapes;
  for (const auto& [name, value] : tensors) shapes.emplace_back(name, value->shape());
  LT_ASSIGN_OR_RETURN(TensorWriter writer, TensorWriter::create(path, shapes, metadata));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto from = tensors[i].second->bytes();
    if (!from.empty()) std::memcpy(writer.bytes(i).data(), from.data(), from.size());
  }
  return writer.commit();
}

}  // namespace lowtide::engine
