#include "text/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "text/npz.h"
#include "text/safetensors_types.h"
#include "text/zip.h"

namespace lowtide::engine {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLargestHeader = 100'000'000;  // the format's own limit

/// Replaces bytes other than 0 by 1: reading a bool with another value is undefined.
void normalise_predicates(std::span<std::byte> bytes) {
  for (std::byte& b : bytes) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
}

}  // namespace

/// An opened file: its mapped pages, and the state by which later writes are detected.
struct TensorFile::Mapping {
  explicit Mapping(int opened) : descriptor(opened) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    registered.reset();
    if (pages != MAP_FAILED) ::munmap(pages, bytes);
    ::close(descriptor);
  }
  const int descriptor;
  OpenFiles* files = nullptr;
  struct stat about{};
  void* pages = MAP_FAILED;
  size_t bytes = 0;
  std::optional<MappedFile> registered;
};

Result<TensorFile> TensorFile::open(const std::string& path, OpenFiles* files) {
  const auto fault = [&](const std::string& why) { return Status::input(fmt::format("{}: {}", path, why)); };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // doesn't block on a pipe
  if (descriptor < 0) return fault(std::strerror(errno));
  const auto mapping = std::make_shared<Mapping>(descriptor);
  if (::fstat(descriptor, &mapping->about) != 0) return fault(std::strerror(errno));
  if (!S_ISREG(mapping->about.st_mode)) return fault("not a file");
  mapping->bytes = static_cast<size_t>(mapping->about.st_size);
  if (mapping->bytes == 0) return fault("empty, expected a safetensors or .npz file");
  mapping->pages = ::mmap(nullptr, mapping->bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapping->pages == MAP_FAILED) return fault(std::strerror(errno));
  mapping->files = files;
  mapping->registered.emplace(files, mapping->pages, mapping->bytes, path);
  LT_ASSIGN_OR_RETURN(TensorFile file, parse({static_cast<const std::byte*>(mapping->pages), mapping->bytes}, path));
  file.mapping_ = mapping;
  return file;
}

OpenFiles* TensorFile::files() const { return mapping_ ? mapping_->files : nullptr; }
int TensorFile::descriptor() const { return mapping_ ? mapping_->descriptor : -1; }

Status TensorFile::check_unchanged() const {
  if (!mapping_) return {};
  const struct stat& then = mapping_->about;
  struct stat now{};
  if (::fstat(mapping_->descriptor, &now) == 0 && now.st_size == then.st_size &&
      now.st_mtim.tv_sec == then.st_mtim.tv_sec && now.st_mtim.tv_nsec == then.st_mtim.tv_nsec) {
    return {};
  }
  return Status::input(fmt::format("{}: somebody wrote to it while it was read", name_));
}

Result<TensorFile> TensorFile::parse(std::span<const std::byte> bytes, std::string name) {
  const auto fault = [&](const std::string& why) { return Status::input(fmt::format("{}: {}", name, why)); };
  if (is_zip(bytes)) return parse_npz(bytes, std::move(name));
  if (bytes.size() < kLengthBytes) return fault("too short for a safetensors file");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kLargestHeader || length > bytes.size() - kLengthBytes) {
    return fault(fmt::format("not a safetensors file: a header of {} bytes in {}", length, bytes.size()));
  }
  TensorFile file;
  file.name_ = name;
  file.data_begin_ = kLengthBytes + length;
  file.data_ = bytes.subspan(file.data_begin_);
  auto header =
      parse_tensor_header({reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length}, file.data_.size());
  if (!header.ok()) return fault(header.status().message());
  file.header_ = header.take();
  return file;
}

Result<TensorFile> TensorFile::parse_npz(std::span<const std::byte> bytes, std::string name) {
  auto arrays = read_npz(bytes);
  if (!arrays.ok()) return Status(arrays.status().fault(), fmt::format("{}: {}", name, arrays.status().message()));
  TensorFile file;
  file.name_ = std::move(name);
  file.data_ = bytes;
  for (NpzArray& array : *arrays) {
    file.header_.entries.emplace(
        array.name, TensorHeader::Entry{std::move(array.shape), array.begin, array.end, std::move(array.own)});
  }
  return file;
}

std::span<const std::byte> TensorFile::bytes_of(const TensorHeader::Entry& entry) const {
  if (entry.own) return std::as_bytes(std::span(*entry.own));
  return data_.subspan(entry.begin, entry.end - entry.begin);
}

void TensorFile::rename(const std::string& tensor, const std::string& name) {
  auto entry = header_.entries.extract(tensor);
  LT_ASSERT(!entry.empty() && !contains(name), "a tensor is renamed that isn't there, or to a name that another has");
  entry.key() = name;
  header_.entries.insert(std::move(entry));
}

bool TensorFile::is_in_file(std::string_view tensor) const {
  const auto found = header_.entries.find(tensor);
  return found != header_.entries.end() && !found->second.own;
}

int64_t TensorFile::count_of(std::string_view prefix) const {
  int64_t count = 0;
  while (contains(fmt::format("{}{}", prefix, count))) ++count;
  return count;
}

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : header_.entries) names.push_back(name);
  return names;
}

const Shape& TensorFile::shape_of(std::string_view tensor) const {
  const auto found = header_.entries.find(tensor);
  LT_ASSERT(found != header_.entries.end(), "shape_of a tensor that is not in the file");
  return found->second.shape;
}

Result<Value> TensorFile::load(std::string_view tensor) const {
  const auto found = header_.entries.find(tensor);
  if (found == header_.entries.end()) return Status::input(fmt::format("{}: no tensor {}", name_, tensor));
  const TensorHeader::Entry& entry = found->second;
  auto literal = std::make_shared<Literal>(entry.shape);
  const auto bytes = bytes_of(entry);
  if (!bytes.empty()) std::memcpy(literal->bytes().data(), bytes.data(), bytes.size());
  if (entry.shape.type == ElementType::kPred) normalise_predicates(literal->bytes());
  return Value(std::move(literal));
}

Result<Value> TensorFile::load_as(std::string_view tensor, const Shape& wanted) const {
  LT_ASSIGN_OR_RETURN(Value value, load(tensor));
  const Shape& got = value->shape();
  const auto carrier = wanted.is_array() ? tensor_carrier(wanted.type) : std::nullopt;
  if (got.dims != wanted.dims || carrier != got.type) {
    return Status::input(fmt::format("{}: {} is {}, expected {}", name_, tensor, to_string_without_layout(got),
                                     to_string_without_layout(wanted)));
  }
  if (wanted.type == got.type) return value;
  auto narrow = std::make_shared<Literal>(Shape::array(wanted.type, wanted.dims));
  dispatch(wanted.type, [&]<class T>() {
    if constexpr (requires(T t) { t.held; }) {
      for (int64_t i = 0; i < narrow->size(); ++i) narrow->data<T>()[i] = T(integer_at(*value, i));
    }
  });
  return Value(std::move(narrow));
}

std::optional<std::span<const std::byte>> TensorFile::bytes_as(std::string_view tensor, const Shape& wanted) const {
  const auto found = header_.entries.find(tensor);
  if (found == header_.entries.end() || !same_shape(found->second.shape, wanted)) return std::nullopt;
  const auto bytes = bytes_of(found->second);
  const auto is_predicate = [](std::byte b) { return b <= std::byte{1}; };
  if (wanted.type == ElementType::kPred && !std::ranges::all_of(bytes, is_predicate)) return std::nullopt;
  return bytes;
}

int64_t TensorFile::offset_of(std::string_view tensor) const {
  const auto found = header_.entries.find(tensor);
  LT_ASSERT(found != header_.entries.end(), "offset_of a tensor that is not in the file");
  return static_cast<int64_t>(data_begin_ + found->second.begin);
}

}  // namespace lowtide::engine
