#include "text/bytecode/bytecode_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "text/hlo/scanner.h"
#include "text/stablehlo/mlir_attributes.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepest = 64;
constexpr size_t kMostIntegers = 1 << 20;  // in a list
constexpr size_t kInlineBytes = 64;        // largest tensor that is written as text

bool is_bare(std::string_view name) {
  return !name.empty() && is_name_start(name[0]) && name.find('-') == name.npos &&
         std::ranges::all_of(name, [](char c) { return is_name_char(c); });
}

/// A float as MLIR prints it: with six digits if they read back exactly, else with as many as needed, else as bits.
std::string float_text(uint64_t bits, int width) {
  double value = 0;
  if (width == 64) {
    value = std::bit_cast<double>(bits);
  } else if (width == 32) {
    value = std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    return fmt::format("0x{:0{}X}", bits, width / 4);
  }
  if (!std::isfinite(value)) return fmt::format("0x{:0{}X}", bits, width / 4);
  std::string text = fmt::format("{:.6e}", value);
  const auto reads_back = [&] {
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    return width == 64 ? read == value : static_cast<float>(read) == static_cast<float>(value);
  };
  if (!reads_back()) text = fmt::format("{:.{}e}", value, width == 64 ? 16 : 8);
  return text;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text = "dense<\"0x";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text + "\">";
}

}  // namespace

std::string mlir_key(std::string_view key) { return is_bare(key) ? std::string(key) : mlir_quote(key); }
std::string mlir_reference(std::string_view name) { return '@' + mlir_key(name); }

BytecodeEntries::BytecodeEntries(const BytecodeFile& file, BytecodeFault& fault)
    : file_(file), fault_(fault), attributes_(file.attributes.size()), types_(file.types.size()) {
  // Limits the text's size: entries that refer to others twice, recursively, would make it grow exponentially.
  size_t bytes = 0;
  for (const auto& entry : file.attributes) bytes += entry.bytes.size();
  for (const std::string_view text : file.strings) bytes += text.size();
  constexpr size_t kSmall = size_t{1} << 24, kTimes = 64;
  most_text_bytes_ = kSmall + kTimes * bytes;
}

void BytecodeEntries::enter(size_t place) {
  if (depth_ > kDeepest) fault_.raise(place, "found attributes or types nested too deeply, or in a circle");
}

void BytecodeEntries::keep(std::string& text, size_t place) {
  if (fault_.found()) return text.clear();
  text_bytes_ += text.size();
  if (text_bytes_ > most_text_bytes_) fault_.raise(place, "found attributes that are too long when written out");
}

template <class T>
const T& BytecodeEntries::entry(uint64_t number, const std::vector<BytecodeFile::Entry>& entries,
                                std::vector<std::unique_ptr<T>>& read, const Readers<T>& readers) {
  static const T kNone;
  if (fault_.found()) return kNone;
  if (number >= read.size()) {
    fault_.raise(file_.operations.place, fmt::format("found {} {} of {}", readers.what, number, read.size()));
    return kNone;
  }
  if (read[number]) return *read[number];
  const BytecodeFile::Entry& found = entries[number];
  auto made = std::make_unique<T>();
  ByteCursor cursor = file_.cursor(found, fault_);
  ++depth_;
  enter(found.place);
  if (!found.custom) {
    made->text = cursor.terminated();
  } else if (found.dialect == "builtin") {
    (this->*readers.builtin)(cursor, *made);
  } else if (found.dialect == "vhlo") {
    (this->*readers.vhlo)(cursor, *made);
  } else if (found.dialect == "sdy" && readers.sdy) {
    (this->*readers.sdy)(cursor, *made);
  } else {
    fault_.raise(found.place, fmt::format("{}s of the dialect '{}' are not known", readers.what, found.dialect),
                 Fault::kUnsupported);
  }
  --depth_;
  if (!cursor.done()) cursor.raise(fmt::format("found bytes behind the {}", readers.what));
  keep(made->text, found.place);
  read[number] = std::move(made);
  return *read[number];
}

const BytecodeAttribute& BytecodeEntries::attribute(uint64_t number) {
  static constexpr Readers<BytecodeAttribute> kReaders = {"attribute", &BytecodeEntries::read_builtin_attribute,
                                                          &BytecodeEntries::read_vhlo_attribute,
                                                          &BytecodeEntries::read_sdy_attribute};
  return entry(number, file_.attributes, attributes_, kReaders);
}

const BytecodeType& BytecodeEntries::type(uint64_t number) {
  static constexpr Readers<BytecodeType> kReaders = {"type", &BytecodeEntries::read_builtin_type,
                                                     &BytecodeEntries::read_vhlo_type, nullptr};
  return entry(number, file_.types, types_, kReaders);
}

std::string BytecodeEntries::location(uint64_t number) {
  const bool known = number < attributes_.size() && attributes_[number] != nullptr;
  const BytecodeAttribute& found = attribute(number);
  if (found.kind != BytecodeAttribute::Kind::kLocation || found.is_default) return {};
  if (!known || std::ranges::find(locations_, number) == locations_.end()) locations_.push_back(number);
  return fmt::format("#loc{}", number);
}

std::string BytecodeEntries::locations() const {
  std::string text;
  for (const uint64_t number : locations_) text += fmt::format("#loc{} = loc({})\n", number, attributes_[number]->text);
  return text;
}

std::vector<int64_t> BytecodeEntries::integers(const BytecodeAttribute& attribute) {
  std::vector<int64_t> all;
  if (attribute.kind == BytecodeAttribute::Kind::kArray) {
    for (const BytecodeAttribute* item : attribute.items) all.push_back(item->number);
    return all;
  }
  const BytecodeType* type = attribute.type;
  if (attribute.kind != BytecodeAttribute::Kind::kTensor || (type->elements != "i64" && type->elements != "index")) {
    fault_.raise(file_.operations.place, "found no list of integers where one is expected");
    return all;
  }
  uint64_t count = 1;
  for (const int64_t extent : type->dims) {
    const auto n = static_cast<uint64_t>(extent);
    count = extent < 0 || (n != 0 && count > kMostIntegers / n) ? kMostIntegers + 1 : count * n;
  }
  const size_t given = attribute.bytes.size() / sizeof(int64_t);
  if (count > kMostIntegers || (given != count && given != 1) || attribute.bytes.size() % sizeof(int64_t) != 0) {
    fault_.raise(file_.operations.place,
                 fmt::format("found {} bytes as {} integers", attribute.bytes.size(), type->text));
    return all;
  }
  all.resize(count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&all[i], attribute.bytes.data() + (given == 1 ? 0 : i) * sizeof(int64_t), sizeof(int64_t));
  }
  return all;
}

void BytecodeEntries::describe_tensor(BytecodeAttribute& attribute) {
  attribute.kind = BytecodeAttribute::Kind::kTensor;
  if (fault_.found()) return;
  if (attribute.bytes.empty()) {
    attribute.text = "dense<>";
  } else if (attribute.bytes.size() <= kInlineBytes) {
    attribute.text = hexadecimal(attribute.bytes);
  } else {
    attribute.text = blob_text(attribute.bytes);
  }
  attribute.text += " : " + attribute.type->text;
}

std::string BytecodeEntries::blob_text(std::string_view bytes) {
  return fmt::format("dense_resource<{}>", blobs_.emplace_back(fmt::format("bytes_{}", blobs_.size()), bytes).first);
}

void BytecodeEntries::describe_array(BytecodeAttribute& attribute) const {
  attribute.kind = BytecodeAttribute::Kind::kArray;
  size_t bytes = 0;
  for (const BytecodeAttribute* item : attribute.items) bytes += item->text.size() + 2;
  if (bytes > most_text_bytes_) return fault_.raise(file_.operations.place, "found an array that is too long");
  attribute.text = "[";
  for (const BytecodeAttribute* item : attribute.items) {
    attribute.text += (attribute.text.size() > 1 ? ", " : "") + item->text;
  }
  attribute.text += ']';
}

void BytecodeEntries::describe_dictionary(BytecodeAttribute& attribute) const {
  attribute.kind = BytecodeAttribute::Kind::kDictionary;
  size_t bytes = 0;
  for (const BytecodeAttribute* item : attribute.items) bytes += item->text.size() + 2;
  if (bytes > most_text_bytes_) return fault_.raise(file_.operations.place, "found a dictionary that is too long");
  attribute.text = "{";
  for (size_t i = 0; i < attribute.items.size(); ++i) {
    const BytecodeAttribute& value = *attribute.items[i];
    attribute.text += (i > 0 ? ", " : "") + mlir_key(attribute.keys[i]);
    if (value.kind != BytecodeAttribute::Kind::kNothing) attribute.text += " = " + value.text;
  }
  attribute.text += '}';
}

/// An integer of `width` bits, read as signed.
int64_t BytecodeEntries::big_number(ByteCursor& cursor, int width) {
  if (width <= 8) {
    const auto bits = static_cast<int64_t>(cursor.byte());
    const int unused = 64 - std::max(width, 1);
    return static_cast<int64_t>(static_cast<uint64_t>(bits) << unused) >> unused;
  }
  if (width <= 64) return cursor.signed_varint();
  fault_.raise(cursor.place(), fmt::format("integers of {} bits are not known", width), Fault::kUnsupported);
  return 0;
}

void BytecodeEntries::read_integer(ByteCursor& cursor, BytecodeAttribute& attribute) {
  const BytecodeType& of = type(cursor.varint());
  attribute.kind = BytecodeAttribute::Kind::kNumber;
  attribute.type = &of;
  attribute.number = big_number(cursor, of.width);
  if (of.width == 1) {
    attribute.number &= 1;
    attribute.text = attribute.number != 0 ? "true" : "false";
    return;
  }
  const uint64_t mask = of.width >= 64 ? ~uint64_t{0} : (uint64_t{1} << of.width) - 1;
  attribute.text = of.is_unsigned ? fmt::format("{} : {}", static_cast<uint64_t>(attribute.number) & mask, of.text)
                                  : fmt::format("{} : {}", attribute.number, of.text);
}

void BytecodeEntries::read_float(ByteCursor& cursor, BytecodeAttribute& attribute) {
  const BytecodeType& of = type(cursor.varint());
  if (!of.is_float) cursor.raise("found a floating number of another type");
  const auto bits = static_cast<uint64_t>(big_number(cursor, of.width));
  const uint64_t mask = of.width >= 64 ? ~uint64_t{0} : (uint64_t{1} << of.width) - 1;
  attribute.text = fmt::format("{} : {}", float_text(bits & mask, of.width), of.text);
}

void BytecodeEntries::read_string(ByteCursor& cursor, BytecodeAttribute& attribute) {
  attribute.kind = BytecodeAttribute::Kind::kString;
  attribute.string = file_.string(cursor.varint(), cursor);
  attribute.text = mlir_quote(attribute.string);
}

void BytecodeEntries::read_items(ByteCursor& cursor, BytecodeAttribute& attribute) {
  const size_t n = cursor.count("attributes");
  for (size_t i = 0; i < n && !fault_.found(); ++i) attribute.items.push_back(&this->attribute(cursor.varint()));
}

void BytecodeEntries::read_pairs(ByteCursor& cursor, BytecodeAttribute& attribute) {
  const size_t n = cursor.count("attributes");
  for (size_t i = 0; i < n && !fault_.found(); ++i) {
    const BytecodeAttribute& key = this->attribute(cursor.varint());
    if (key.kind != BytecodeAttribute::Kind::kString) cursor.raise("found a name that is no string");
    attribute.keys.push_back(key.string);
    attribute.items.push_back(&this->attribute(cursor.varint()));
  }
}

std::vector<int64_t> BytecodeEntries::read_signed(ByteCursor& cursor) {
  std::vector<int64_t> all(cursor.count("integers"));
  for (int64_t& number : all) number = cursor.signed_varint();
  return all;
}

void BytecodeEntries::read_tensor_type(ByteCursor& cursor, BytecodeType& type, std::string_view encoding) {
  type.dims = read_signed(cursor);
  const BytecodeType& of = this->type(cursor.varint());
  type.elements = of.text;
  type.text = "tensor<";
  for (const int64_t extent : type.dims) {
    if (extent < 0 && extent != kBytecodeDynamic) return cursor.raise(fmt::format("found an extent of {}", extent));
    type.text += extent == kBytecodeDynamic ? "?x" : fmt::format("{}x", extent);
  }
  type.text += of.text;
  if (!encoding.empty()) type.text += fmt::format(", {}", encoding);
  type.text += '>';
}

std::string BytecodeEntries::type_list(ByteCursor& cursor) {
  const size_t n = cursor.count("types");
  std::string text;
  for (size_t i = 0; i < n && !fault_.found(); ++i) {
    if (i > 0) text += ", ";
    text += type(cursor.varint()).text;
    if (text.size() > most_text_bytes_) cursor.raise("found a list of types that is too long");
  }
  return text;
}

}  // namespace lowtide::engine
