#include "text/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "text/zip.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostDimensions = 64;

/// The header of a .npy file: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
struct Header {
  std::string type;  ///< "<f4"
  bool column_major = false;
  Dims dims;
  uint64_t bytes = 0;  ///< the header's length: elements begin there
};

/// Parses the few forms of Python dictionaries that numpy writes.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  bool read(Header& header) {
    bool type = false, order = false, shape = false;
    if (!eat("{")) return false;
    while (!eat("}")) {
      const auto key = quoted();
      if (!key || !eat(":")) return false;
      if (*key == "descr") {
        const auto text = quoted();
        if (!text) return false;
        header.type = *text, type = true;
      } else if (*key == "fortran_order") {
        header.column_major = eat("True");
        if (!header.column_major && !eat("False")) return false;
        order = true;
      } else if (*key == "shape") {
        if (!extents(header.dims)) return false;
        shape = true;
      } else {
        return false;
      }
      if (!eat(",") && !rest_.starts_with("}")) return false;
    }
    return type && order && shape;
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size())); }
  bool eat(std::string_view word) {
    skip();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    skip();
    return true;
  }
  std::optional<std::string> quoted() {
    skip();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool extents(Dims& dims) {
    if (!eat("(")) return false;
    while (!eat(")")) {
      int64_t extent = -1;
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc() || extent < 0 || dims.size() == kMostDimensions) return false;
      rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
      (void)eat("L");  // a suffix of Python 2's long integers
      dims.push_back(extent);
      if (!eat(",") && !rest_.starts_with(")")) return false;
    }
    return true;
  }
  std::string_view rest_;
};

std::optional<Header> read_header(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < 10) return std::nullopt;
  const bool is_long = file[6] >= 2;
  const size_t begin = is_long ? 12 : 10;
  uint32_t length = 0;
  if (file.size() < begin) return std::nullopt;
  std::memcpy(&length, file.data() + 8, is_long ? 4 : 2);
  if (length > file.size() - begin) return std::nullopt;
  Header header;
  if (!HeaderReader(file.substr(begin, length)).read(header)) return std::nullopt;
  header.bytes = begin + length;
  return header;
}

std::optional<ElementType> type_of(std::string_view name) {
  struct Row {
    std::string_view name;
    ElementType type;
  };
  constexpr Row kTypes[] = {{"b1", ElementType::kPred}, {"i1", ElementType::kS8},    {"i2", ElementType::kS16},
                            {"i4", ElementType::kS32},  {"i8", ElementType::kS64},   {"u1", ElementType::kU8},
                            {"u2", ElementType::kU16},  {"u4", ElementType::kU32},   {"u8", ElementType::kU64},
                            {"f2", ElementType::kF16},  {"f4", ElementType::kF32},   {"f8", ElementType::kF64},
                            {"c8", ElementType::kC64},  {"c16", ElementType::kC128}, {"V2", ElementType::kBF16}};
  for (const Row& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

/// Reverses each element's bytes; for complex numbers `element` is the size of one part.
void swap_bytes(std::string& bytes, size_t element) {
  for (size_t at = 0; at + element <= bytes.size(); at += element) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + element));
  }
}

/// Converts a column-major array to row-major.
std::string turned(const std::string& bytes, const Dims& dims, size_t element) {
  std::string out(bytes.size(), '\0');
  Dims index(dims.size(), 0);
  std::vector<size_t> stride(dims.size());
  size_t step = 1;
  for (size_t d = 0; d < dims.size(); ++d) stride[d] = step, step *= static_cast<size_t>(dims[d]);
  size_t from = 0;
  for (size_t to = 0; to < bytes.size(); to += element) {
    std::memcpy(out.data() + to, bytes.data() + from * element, element);
    for (size_t d = dims.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < dims[d]) break;
      from -= stride[d] * static_cast<size_t>(dims[d]);
      index[d] = 0;
    }
  }
  return out;
}

Result<NpzArray> read_array(std::span<const std::byte> archive, const ZipEntry& entry) {
  NpzArray array;
  array.name = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
  const auto fault = [&](const std::string& what) { return Status::input(array.name + ": " + what); };
  std::string unpacked;
  std::string_view file(reinterpret_cast<const char*>(archive.data()) + entry.begin, entry.end - entry.begin);
  if (entry.deflated) {
    LT_ASSIGN_OR_RETURN(unpacked, unzip(archive, entry));
    file = unpacked;
  }
  const auto header = read_header(file);
  if (!header) return fault("no array as numpy writes it");
  const std::string_view type = header->type;
  const auto known = type.size() > 1 ? type_of(type.substr(1)) : std::nullopt;
  if (!known) {
    return fault(fmt::format("elements of numpy's type {} can't be read; expected numbers or bool", header->type));
  }
  array.shape = Shape::array(*known, header->dims);
  const auto element = static_cast<size_t>(stored_bytes(*known));
  uint64_t bytes = element;
  for (const int64_t extent : header->dims) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return fault("is too large");
  }
  if (bytes != file.size() - header->bytes) {
    return fault(fmt::format("{} bytes of elements, expected {} of {}", file.size() - header->bytes, bytes,
                             to_string_without_layout(array.shape)));
  }
  const bool swapped = type[0] == '>' && element > 1;
  const bool in_columns = header->column_major && header->dims.size() > 1 && bytes > 0;
  if (!entry.deflated && !swapped && !in_columns) {
    array.begin = entry.begin + header->bytes;
    array.end = entry.end;
    return array;
  }
  std::string elements(file.substr(header->bytes));
  if (swapped) swap_bytes(elements, is_complex(*known) ? element / 2 : element);
  if (in_columns) elements = turned(elements, header->dims, element);
  array.own = std::make_shared<const std::string>(std::move(elements));
  return array;
}

}  // namespace

Result<std::vector<NpzArray>> read_npz(std::span<const std::byte> archive) {
  LT_ASSIGN_OR_RETURN(const std::vector<ZipEntry> entries, read_zip(archive));
  std::vector<NpzArray> arrays;
  for (const ZipEntry& entry : entries) {
    LT_ASSIGN_OR_RETURN(NpzArray array, read_array(archive, entry));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace lowtide::engine
