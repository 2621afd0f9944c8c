#include "foreign_attributes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

namespace lowtide::pjrt {
namespace {

struct TypeRow {
  std::string_view hlo, mlir;
  XLA_FFI_Type number;
  size_t bytes;
};
constexpr std::array<TypeRow, 29> kTypes = {{
    {"pred", "i1", 1, 1},
    {"s8", "i8", 2, 1},
    {"s16", "i16", 3, 2},
    {"s32", "i32", 4, 4},
    {"s64", "i64", 5, 8},
    {"u8", "ui8", 6, 1},
    {"u16", "ui16", 7, 2},
    {"u32", "ui32", 8, 4},
    {"u64", "ui64", 9, 8},
    {"f16", "f16", 10, 2},
    {"f32", "f32", 11, 4},
    {"f64", "f64", 12, 8},
    {"c64", "complex<f32>", 15, 8},
    {"bf16", "bf16", 16, 2},
    {"c128", "complex<f64>", 18, 16},
    {"f8e5m2", "f8E5M2", 19, 1},
    {"f8e4m3fn", "f8E4M3FN", 20, 1},
    {"s4", "i4", 21, 1},
    {"u4", "ui4", 22, 1},
    {"f8e4m3b11fnuz", "f8E4M3B11FNUZ", 23, 1},
    {"f8e5m2fnuz", "f8E5M2FNUZ", 24, 1},
    {"f8e4m3fnuz", "f8E4M3FNUZ", 25, 1},
    {"s2", "i2", 26, 1},
    {"u2", "ui2", 27, 1},
    {"f8e4m3", "f8E4M3", 28, 1},
    {"f8e3m4", "f8E3M4", 29, 1},
    {"f4e2m1fn", "f4E2M1FN", 32, 1},
    {"f8e8m0fnu", "f8E8M0FNU", 33, 1},
    {"token", "token", 17, 0},
}};
constexpr XLA_FFI_Type kPred = 1;
constexpr size_t kMostElements = size_t{1} << 26;  ///< of an array; it is part of the program's text
constexpr int kMostNested = 64;                    ///< depth of nested dictionaries

const TypeRow* type_row(std::string_view name) {
  const auto found =
      std::ranges::find_if(kTypes, [&](const TypeRow& row) { return row.hlo == name || row.mlir == name; });
  return found == kTypes.end() ? nullptr : &*found;
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

template <class T>
bool put_as(std::string_view word, int base, std::byte* to) {
  T value = {};
  const auto [end, error] = [&] {
    if constexpr (std::is_floating_point_v<T>) {
      return std::from_chars(word.data(), word.data() + word.size(), value);
    } else {
      return std::from_chars(word.data(), word.data() + word.size(), value, base);
    }
  }();
  if (error != std::errc() || end != word.data() + word.size()) return false;
  std::memcpy(to, &value, sizeof value);
  return true;
}

/// Writes an integer's low bytes; the text may have either sign.
bool put_bits(std::string_view word, int base, size_t bytes, std::byte* to) {
  std::array<std::byte, sizeof(uint64_t)> bits = {};
  const bool read =
      word.starts_with('-') ? put_as<int64_t>(word, base, bits.data()) : put_as<uint64_t>(word, base, bits.data());
  if (read) std::memcpy(to, bits.data(), bytes);  // little-endian
  return read;
}

/// Writes one number of the type, or a part of a complex one.
bool put_number(std::string_view word, const TypeRow& type, std::byte* to) {
  if (type.number == kPred && (word == "true" || word == "false")) {
    *to = static_cast<std::byte>(word == "true");
    return true;
  }
  const bool is_complex = type.mlir.starts_with("complex");
  const size_t bytes = is_complex ? type.bytes / 2 : type.bytes;
  if (word.starts_with("0x")) return put_bits(word.substr(2), 16, bytes, to);
  const bool is_float = is_complex || type.mlir.starts_with('f') || type.mlir.starts_with("bf");
  if (!is_float) return put_bits(word, 10, bytes, to);
  if (bytes == sizeof(float)) return put_as<float>(word, 10, to);
  return bytes == sizeof(double) && put_as<double>(word, 10, to);  // the text has narrower floats as bits
}

Error fault(std::string message) { return {ErrorKind::kInput, "foreign call: " + std::move(message)}; }

}  // namespace

XLA_FFI_Type foreign_type(std::string_view name) {
  const TypeRow* const row = type_row(name);
  return row ? row->number : 0;
}

class ForeignAttributes::Reader {
 public:
  Reader(std::string_view text, ForeignAttributes& made) : rest_(text), made_(made) {}

  /// Reads a dictionary into dictionaries_, after those nested in it.
  Result<void> dictionary() {
    std::vector<Entry> entries;
    if (!take("{")) return fault("found no dictionary of attributes");
    if (++depth_ > kMostNested) return fault("found more than 64 dictionaries in each other");
    while (!take("}")) {
      if (!entries.empty() && !take(",")) return fault("found a dictionary of attributes that doesn't end");
      Result<Entry> entry = named_value();
      if (!entry.ok()) return entry.error();
      entries.push_back(*entry);
    }
    std::ranges::sort(entries, {}, [](const Entry& e) { return std::string_view(e.name->data, e.name->size); });
    Dictionary& all = made_.dictionaries_.emplace_back();
    for (const Entry& entry : entries) {
      all.kinds.push_back(entry.kind);
      all.names.push_back(entry.name);
      all.values.push_back(entry.value);
    }
    --depth_;
    all.all = {{sizeof(XLA_FFI_Attributes), nullptr},
               static_cast<int64_t>(entries.size()),
               all.kinds.data(),
               all.names.data(),
               all.values.data()};
    return {};
  }

 private:
  struct Entry {
    XLA_FFI_Span* name = nullptr;
    int kind = 0;
    void* value = nullptr;
  };

  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Takes the text before the first of these characters.
  std::string_view take_until(std::string_view ends) {
    skip_spaces();
    const std::string_view word = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(word.size());
    return trimmed(word);
  }

  XLA_FFI_Span* keep(std::string text) {
    const std::string& kept = made_.texts_.emplace_back(std::move(text));
    return &made_.spans_.emplace_back(XLA_FFI_Span{kept.data(), kept.size()});
  }
  std::byte* room(size_t bytes) {
    const size_t units = std::max<size_t>(1, (bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    return reinterpret_cast<std::byte*>(made_.numbers_.emplace_back(units).data());
  }

  /// Reads a string after its opening quotation mark: \22 is a byte in hex, any other escaped character is itself.
  std::optional<std::string> quoted() {
    std::string text;
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (rest_[i] != '\\') {
        text += rest_[i];
        continue;
      }
      std::byte byte = {};
      if (i + 2 < rest_.size() && put_bits(rest_.substr(i + 1, 2), 16, 1, &byte)) {
        text += static_cast<char>(byte);
        i += 2;
      } else if (++i < rest_.size()) {
        text += rest_[i] == 'n' ? '\n' : rest_[i] == 't' ? '\t' : rest_[i];
      }
    }
    return {};
  }

  Result<Entry> named_value() {
    std::optional<std::string> name = take("\"") ? quoted() : std::string(take_until("=,}"));
    if (!name || name->empty()) return fault("found an attribute without a name");
    Entry entry;
    entry.name = keep(*name);
    if (take("=")) {
      const Result<bool> known = value(entry);
      if (!known.ok()) return known.error();
      if (*known) return entry;
    }
    return fault("attribute '" + *name + "' is no number, string, array of numbers or dictionary");
  }

  Result<bool> value(Entry& entry) {
    skip_spaces();
    if (rest_.starts_with('{')) {
      if (const Result<void> inner = dictionary(); !inner.ok()) return inner.error();
      entry.kind = XLA_FFI_Attributes::kDictionary;
      entry.value = &made_.dictionaries_.back().all;
      return true;
    }
    if (take("\"")) {
      std::optional<std::string> text = quoted();
      if (!text) return false;
      entry.kind = XLA_FFI_Attributes::kString;
      entry.value = keep(*std::move(text));
      return true;
    }
    if (take("array<")) return short_array(entry);
    if (take("dense<")) return tensor(entry);
    return scalar(entry);
  }

  bool scalar(Entry& entry) {
    const std::string_view word = take_until(":,}");
    std::string_view type = word == "true" || word == "false" ? "i1" : word.find('.') != word.npos ? "f64" : "i64";
    if (take(":")) type = take_until(",}");
    const TypeRow* const row = type_row(type);
    if (!row || row->mlir.starts_with("complex")) return false;
    std::byte* const data = room(row->bytes);
    entry.kind = XLA_FFI_Attributes::kScalar;
    entry.value = &made_.scalars_.emplace_back(XLA_FFI_Scalar{row->number, data});
    return put_number(word, *row, data);
  }

  /// Reads array<i64: 1, 2>.
  bool short_array(Entry& entry) {
    const TypeRow* const row = type_row(take_until(":>"));
    (void)take(":");
    const std::string_view numbers = take_until(">");
    return row && take(">") && numbers_of(numbers, *row, std::nullopt, entry);
  }

  /// Reads dense<[1, 2]> : tensor<2xi32>: elements in brackets, one for all, or the elements' bytes.
  bool tensor(Entry& entry) {
    const std::string_view elements = take_until(">");
    if (!take(">") || !take(":") || !take("tensor<")) return false;
    std::string_view type = take_until(",}");
    if (!type.ends_with('>')) return false;
    type.remove_suffix(1);
    size_t count = 1;
    for (size_t x = type.find('x'); x != type.npos && std::isdigit(static_cast<unsigned char>(type[0]));
         x = type.find('x')) {
      size_t extent = 0;
      std::from_chars(type.data(), type.data() + x, extent);
      if (extent > kMostElements || count * extent > kMostElements) return false;
      count *= extent;
      type.remove_prefix(x + 1);
    }
    const TypeRow* const row = type_row(type);
    return row && numbers_of(elements, *row, count, entry);
  }

  /// count: the number of elements, if known; then a single number is repeated for all.
  bool numbers_of(std::string_view text, const TypeRow& type, std::optional<size_t> count, Entry& entry) {
    entry.kind = XLA_FFI_Attributes::kArray;
    constexpr std::string_view kBytes = "\"0x";
    if (text.starts_with(kBytes)) {
      if (text.size() == kBytes.size() || !text.ends_with('"')) return false;
      text.remove_prefix(kBytes.size());
      text.remove_suffix(1);
      return count && bytes_of(text, type, *count, entry);
    }
    std::vector<std::string_view> words;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find_first_of(",[]() \n", at), text.size());
      if (end > at) words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    const size_t parts = type.mlir.starts_with("complex") ? 2 : 1;
    const size_t given = words.size() / parts, wanted = count.value_or(given);
    if (words.size() % parts != 0 || (given != wanted && given != 1)) return false;
    std::byte* const data = room(wanted * type.bytes);
    entry.value = &made_.arrays_.emplace_back(XLA_FFI_Array{type.number, wanted, data});
    for (size_t i = 0; i < wanted * parts; ++i) {
      if (!put_number(words[given == wanted ? i : i % parts], type, data + i * (type.bytes / parts))) return false;
    }
    return true;
  }

  bool bytes_of(std::string_view digits, const TypeRow& type, size_t count, Entry& entry) {
    std::byte* const data = room(count * type.bytes);
    entry.value = &made_.arrays_.emplace_back(XLA_FFI_Array{type.number, count, data});
    constexpr size_t kBits = 8;
    std::vector<std::byte> bytes(digits.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (!put_bits(digits.substr(2 * i, 2), 16, 1, &bytes[i])) return false;
    }
    const bool is_same = bytes.size() == std::max<size_t>(type.bytes, 1) && count != 1;
    if (type.number == kPred && !is_same && bytes.size() == (count + kBits - 1) / kBits) {
      for (size_t i = 0; i < count; ++i) data[i] = (bytes[i / kBits] >> (i % kBits)) & std::byte{1};
      return true;
    }
    if (type.number == kPred && is_same && count <= kBits) {  // may be one bit per element, or one value for all
      for (size_t i = 0; i < count; ++i) data[i] = (bytes[0] >> i) & std::byte{1};
      return true;
    }
    if (!is_same && bytes.size() != count * type.bytes) return false;
    for (size_t i = 0; i < count * type.bytes; ++i) data[i] = bytes[is_same ? i % bytes.size() : i];
    if (type.number == kPred) std::for_each(data, data + count, [](std::byte& b) { b &= std::byte{1}; });
    return true;
  }

  std::string_view rest_;
  ForeignAttributes& made_;
  int depth_ = 0;
};

Result<ForeignAttributes> ForeignAttributes::parse(std::string_view dictionary) {
  ForeignAttributes made;
  Reader reader(trimmed(dictionary).empty() ? "{}" : dictionary, made);
  if (const Result<void> read = reader.dictionary(); !read.ok()) return read.error();
  return made;
}

}  // namespace lowtide::pjrt
