#include "text/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "text/npz.h"
#include "text/safetensors_types.h"
#include "text/zip.h"

namespace lowtide {
namespace {

using nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLargestHeader = 100'000'000;  // the format's own limit

/// The header as JSON; nullopt when it is not JSON or names a key of the top level twice.
std::optional<json> parse_header(std::string_view text) {
  std::set<std::string> seen;
  bool twice = false;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1) twice |= !seen.insert(value.get<std::string>()).second;
    return true;
  };
  json header = json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object() || twice) return std::nullopt;
  return header;
}

/// An array of whole numbers below 2^63; nullopt for anything else.
std::optional<Dims> whole_numbers(const json& value) {
  if (!value.is_array()) return std::nullopt;
  Dims numbers;
  for (const json& item : value) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > INT64_MAX) return std::nullopt;
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

/// Bytes of an array in a file; nullopt when they don't fit 63 bits.
std::optional<uint64_t> checked_bytes(const Shape& shape) {
  int64_t bytes = stored_bytes(shape.type);
  for (const int64_t extent : shape.dims) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return static_cast<uint64_t>(bytes);
}

const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Shape and place of one tensor from its header entry, or what is wrong with it.
struct Place {
  Shape shape;
  uint64_t begin = 0, end = 0;
};
Result<Place> place_of(const json& entry, uint64_t data_bytes) {
  if (!entry.is_object()) return Status::input("expected an object with dtype, shape and data_offsets");
  const json* dtype = member(entry, "dtype");
  const json* shape = member(entry, "shape");
  const json* offsets = member(entry, "data_offsets");
  if (!dtype || !dtype->is_string()) return Status::input("dtype is missing");
  const auto type = tensor_type_from_text(dtype->get_ref<const std::string&>());
  if (!type) return Status::input(fmt::format("unknown dtype {}", dtype->get_ref<const std::string&>()));
  const auto dims = shape ? whole_numbers(*shape) : std::nullopt;
  if (!dims) return Status::input("shape must be a list of whole numbers");
  const auto range = offsets ? whole_numbers(*offsets) : std::nullopt;
  if (!range || range->size() != 2) return Status::input("data_offsets must be two whole numbers");
  Place place{Shape::array(*type, *dims), static_cast<uint64_t>((*range)[0]), static_cast<uint64_t>((*range)[1])};
  if (place.begin > place.end || place.end > data_bytes) {
    return Status::input(
        fmt::format("data_offsets [{}, {}] leave the {} bytes of data", place.begin, place.end, data_bytes));
  }
  const auto bytes = checked_bytes(place.shape);
  if (!bytes || *bytes != place.end - place.begin) {
    return Status::input(
        fmt::format("data_offsets [{}, {}] don't fit {}", place.begin, place.end, to_string(place.shape)));
  }
  return place;
}

/// Some byte other than 0 and 1 is no bool, and reading it as one is undefined.
void normalise_predicates(std::span<std::byte> bytes) {
  for (std::byte& b : bytes) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
}

}  // namespace

Result<TensorFile> TensorFile::open(const std::string& path) {
  const auto fault = [&](const std::string& why) { return Status::input(fmt::format("{}: {}", path, why)); };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fault(std::strerror(errno));
  struct stat about{};
  const bool regular = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  const auto bytes = regular ? static_cast<size_t>(about.st_size) : 0;
  void* pages = bytes > 0 ? ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  ::close(descriptor);
  if (!regular) return fault("not a file");
  if (bytes == 0) return fault("empty, expected a safetensors or .npz file");
  if (pages == MAP_FAILED) return fault(std::strerror(errno));
  std::shared_ptr<const void> mapping(pages, [bytes](const void* p) { ::munmap(const_cast<void*>(p), bytes); });
  LT_ASSIGN_OR_RETURN(TensorFile file, parse({static_cast<const std::byte*>(pages), bytes}, path));
  file.mapping_ = std::move(mapping);
  return file;
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
  const auto header = parse_header({reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length});
  if (!header) return fault("the header must be a JSON object that names each tensor once");

  TensorFile file;
  file.name_ = name;
  file.data_begin_ = kLengthBytes + length;
  file.data_ = bytes.subspan(file.data_begin_);
  for (const auto& [key, entry] : header->items()) {
    if (key == "__metadata__") {
      if (!entry.is_object()) return fault("__metadata__ must be an object of strings");
      for (const auto& [word, text] : entry.items()) {
        if (!text.is_string()) return fault(fmt::format("__metadata__: {} must be a string", word));
        file.metadata_.emplace(word, text.get<std::string>());
      }
      continue;
    }
    Result<Place> place = place_of(entry, file.data_.size());
    if (!place.ok()) return fault(fmt::format("{}: {}", key, place.status().message()));
    file.entries_.emplace(key, Entry{std::move(place->shape), place->begin, place->end, nullptr});
  }
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [key, entry] : file.entries_) ranges.emplace_back(entry.begin, entry.end);
  std::sort(ranges.begin(), ranges.end());
  uint64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) return fault(fmt::format("tensors overlap or leave a gap at byte {} of the data", begin));
    covered = end;
  }
  if (covered != file.data_.size()) {
    return fault(fmt::format("tensors cover {} of {} bytes of data", covered, file.data_.size()));
  }
  return file;
}

Result<TensorFile> TensorFile::parse_npz(std::span<const std::byte> bytes, std::string name) {
  auto arrays = read_npz(bytes);
  if (!arrays.ok()) return Status(arrays.status().fault(), fmt::format("{}: {}", name, arrays.status().message()));
  TensorFile file;
  file.name_ = std::move(name);
  file.data_ = bytes;
  for (NpzArray& array : *arrays) {
    file.entries_.emplace(array.name, Entry{std::move(array.shape), array.begin, array.end, std::move(array.own)});
  }
  return file;
}

std::span<const std::byte> TensorFile::bytes_of(const Entry& entry) const {
  if (entry.own) return std::as_bytes(std::span(*entry.own));
  return data_.subspan(entry.begin, entry.end - entry.begin);
}

void TensorFile::rename(const std::string& tensor, const std::string& name) {
  auto entry = entries_.extract(tensor);
  LT_ASSERT(!entry.empty() && !contains(name), "a tensor is renamed that isn't there, or to a name that another has");
  entry.key() = name;
  entries_.insert(std::move(entry));
}

bool TensorFile::is_in_file(std::string_view tensor) const {
  const auto found = entries_.find(tensor);
  return found != entries_.end() && !found->second.own;
}

int64_t TensorFile::count_of(std::string_view prefix) const {
  int64_t count = 0;
  while (contains(fmt::format("{}{}", prefix, count))) ++count;
  return count;
}

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

const Shape& TensorFile::shape_of(std::string_view tensor) const {
  const auto found = entries_.find(tensor);
  LT_ASSERT(found != entries_.end(), "shape_of a tensor that is not in the file");
  return found->second.shape;
}

Result<Value> TensorFile::load(std::string_view tensor) const {
  const auto found = entries_.find(tensor);
  if (found == entries_.end()) return Status::input(fmt::format("{}: no tensor {}", name_, tensor));
  const Entry& entry = found->second;
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
      for (int64_t i = 0; i < narrow->size(); ++i) narrow->data<T>()[static_cast<size_t>(i)] = T(integer_at(*value, i));
    }
  });
  return Value(std::move(narrow));
}

std::optional<std::span<const std::byte>> TensorFile::bytes_as(std::string_view tensor, const Shape& wanted) const {
  const auto found = entries_.find(tensor);
  if (found == entries_.end() || !same_shape(found->second.shape, wanted)) return std::nullopt;
  const auto bytes = bytes_of(found->second);
  const auto is_predicate = [](std::byte b) { return b <= std::byte{1}; };
  if (wanted.type == ElementType::kPred && !std::ranges::all_of(bytes, is_predicate)) return std::nullopt;
  return bytes;
}

int64_t TensorFile::offset_of(std::string_view tensor) const {
  const auto found = entries_.find(tensor);
  LT_ASSERT(found != entries_.end(), "offset_of a tensor that is not in the file");
  return static_cast<int64_t>(data_begin_ + found->second.begin);
}

}  // namespace lowtide
