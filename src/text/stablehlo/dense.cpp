#include "text/stablehlo/dense.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "ops/number_text.h"
#include "ops/text_cursor.h"

namespace lowtide::engine {
namespace {

template <class T>
inline constexpr bool is_complex_number =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Reads `0x7F800000`: the bits of a floating-point number, or an integer.
template <class T>
const char* read_hexadecimal(std::string_view token, T& out) {
  constexpr const char* kExpected = "hexadecimal digits that fit the type";
  const bool negative = token.starts_with('-');
  const std::string_view digits = token.substr(negative ? 3 : 2);
  uint64_t bits = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (error != std::errc() || stop != digits.data() + digits.size()) return kExpected;
  if constexpr (is_small_int<T> || std::is_integral_v<T>) {
    out = static_cast<T>(static_cast<int64_t>(negative ? 0 - bits : bits));
    return nullptr;
  } else {
    if (negative) return kExpected;
    if constexpr (sizeof(T) < sizeof bits) {
      if (bits >> (8 * sizeof(T)) != 0) return kExpected;
    }
    std::memcpy(static_cast<void*>(&out), &bits, sizeof out);
    return nullptr;
  }
}

template <class T>
const char* read_number(std::string_view token, T& out) {
  if (token.starts_with("0x") || token.starts_with("-0x")) return read_hexadecimal(token, out);
  return read_real(token, out);
}

int hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// A sub-byte element as a byte; signed ones are sign-extended.
std::byte widen(unsigned value, ElementType type) {
  const int bits = type_bits(type);
  value &= (1u << bits) - 1;
  if (type_kind(type) == TypeKind::kSigned && (value >> (bits - 1)) != 0) value |= 0xffu << bits;
  return static_cast<std::byte>(value);
}

class DenseReader {
 public:
  DenseReader(const MlirAttribute& attribute, const Source& source, const MlirModule& module)
      : text_(attribute.text), place_(attribute.place), source_(source), module_(module) {}

  Result<Dense> read(const Shape& shape) {
    if (!shape.is_array()) return fault("an array as the type of a constant");
    if (std::ranges::any_of(shape.dims, [](int64_t extent) { return extent < 0; })) {
      return fault("known extents in the type of a constant");
    }
    if (text_.starts_with("dense_resource")) return read_resource(shape);
    if (text_.starts_with("dense")) {
      at_ = 5;
      if (peek() != '<') return fault("'<' and the elements");
      ++at_;
      if (text_.substr(at_).starts_with("__elided__")) return unknown(shape);
    } else if (text_.starts_with("array")) {
      at_ = text_.find(':');
      at_ = at_ == text_.npos ? text_.find('<') + 1 : at_ + 1;
      return read_list(shape);
    }
    if (peek() == '"') return read_blob(shape);
    return dispatch(shape.type, [&]<class T>() { return read_elements<T>(shape); });
  }

 private:
  static Dense unknown(const Shape& shape) { return {std::make_shared<const Literal>(Literal::unknown(shape)), false}; }

  char peek() {
    at_ = skip_blank(text_, at_);
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  Status fault(std::string_view expected) {
    const size_t end = std::min(text_.find_first_of(" \t\n,<>[]()", at_ + 1), text_.size());
    const std::string found = peek() == '\0' ? "the end of the constant"
                                             : fmt::format("'{}'", text_.substr(at_, std::min<size_t>(end - at_, 40)));
    return Status::input(fmt::format("found {}, expected {}", found, expected))
        .at(source_, place_ + static_cast<Offset>(std::min(at_, text_.size())));
  }

  std::string_view token() {
    peek();
    const size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) &&
           std::string_view(",[]()<>:").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  template <class T>
  Status read_one(T& out) {
    if constexpr (is_complex_number<T>) {
      typename T::value_type real = 0, imaginary = 0;
      if (peek() != '(') return fault("'(' and the real part");
      ++at_;
      LT_RETURN_IF_ERROR(read_one(real));
      if (peek() != ',') return fault("',' and the imaginary part");
      ++at_;
      LT_RETURN_IF_ERROR(read_one(imaginary));
      if (peek() != ')') return fault("')' behind the imaginary part");
      ++at_;
      out = T(real, imaginary);
      return {};
    } else {
      peek();
      const size_t begin = at_;
      const char* expected = read_number(token(), out);
      if (!expected) return {};
      at_ = begin;
      return fault(expected);
    }
  }

  /// Reads a list's elements, or one element for all.
  template <class T>
  Result<Dense> read_elements(const Shape& shape) {
    const int64_t count = element_count(shape);
    if (peek() != '[') {
      if (peek() == '>') {
        if (count != 0) return fault(fmt::format("{} elements", count));
        return Dense{std::make_shared<const Literal>(shape), false};
      }
      Literal one(Shape::scalar(shape.type));
      T element{};
      LT_RETURN_IF_ERROR(read_one(element));
      one.data<T>()[0] = element;
      return Dense{std::make_shared<const Literal>(std::move(one)), true};
    }
    // Each element takes at least one character: no memory is allocated for more elements than the text can contain.
    if (count > static_cast<int64_t>(text_.size() - at_)) return fault(fmt::format("a list of {} elements", count));
    Literal literal(shape);
    size_t next = 0;
    LT_RETURN_IF_ERROR(read_level(literal.data<T>(), shape.dims, 0, next));
    return Dense{std::make_shared<const Literal>(std::move(literal)), false};
  }

  template <class T>
  Status read_level(std::span<T> elements, const Dims& dims, size_t level, size_t& next) {
    if (level == dims.size()) return next < elements.size() ? read_one(elements[next++]) : fault("']'");
    if (peek() != '[') return fault("'['");
    ++at_;
    for (int64_t i = 0; i < dims[level]; ++i) {
      if (i > 0) {
        if (peek() != ',') return fault(fmt::format("',' and {} entries in dimension {}", dims[level], level));
        ++at_;
      }
      LT_RETURN_IF_ERROR(read_level(elements, dims, level + 1, next));
    }
    if (peek() != ']') return fault(fmt::format("']' behind {} entries in dimension {}", dims[level], level));
    ++at_;
    return {};
  }

  /// Reads the elements of `array<i64: 1, 2>`, which have no brackets.
  Result<Dense> read_list(const Shape& shape) {
    return dispatch(shape.type, [&]<class T>() -> Result<Dense> {
      if (element_count(shape) > static_cast<int64_t>(text_.size())) return fault("as many elements as the type has");
      Literal literal(shape);
      bool first = true;
      for (T& element : literal.data<T>()) {
        if (!first) {
          if (peek() != ',') return fault("','");
          ++at_;
        }
        first = false;
        LT_RETURN_IF_ERROR(read_one(element));
      }
      return Dense{std::make_shared<const Literal>(std::move(literal)), false};
    });
  }

  Result<Dense> read_resource(const Shape& shape) {
    const size_t open = text_.find('<');
    const size_t close = text_.find('>', std::min(open, text_.size()));
    if (close == text_.npos) return fault("dense_resource<name>");
    std::string_view name = text_.substr(open + 1, close - open - 1);
    if (name.size() > 1 && name.starts_with('"') && name.ends_with('"')) name = name.substr(1, name.size() - 2);
    if (module_.blobs) {
      const auto blob = module_.blobs->find(std::string(name));
      if (blob != module_.blobs->end()) {
        const std::string_view bytes = blob->second;
        return read_bytes(shape, bytes.size(), false, [&](size_t i) { return static_cast<unsigned char>(bytes[i]); });
      }
    }
    const auto found = module_.resources.find(name);
    if (found == module_.resources.end()) {
      // A printer that elides large data also elides the resources section.
      if (!module_.has_resources || name == "__elided__") return unknown(shape);
      at_ = open + 1;
      return fault("the name of one of the builtin dialect_resources");
    }
    const std::string_view blob = found->second;
    place_ = static_cast<Offset>(blob.data() - source_.text.data());
    text_ = blob;
    at_ = 0;
    LT_ASSIGN_OR_RETURN(const std::string_view digits, read_digits());
    // The first four bytes are the data's alignment: little-endian, a power of two, or 0 if unknown.
    constexpr size_t kAlignmentDigits = 8;
    if (digits.size() < kAlignmentDigits) return fault("four bytes that say how the data are aligned");
    uint32_t alignment = 0;
    for (size_t i = 0; i < sizeof alignment; ++i) alignment |= uint32_t{byte_of(digits, i)} << 8 * i;
    if ((alignment & (alignment - 1)) != 0) return fault("a power of two as the alignment in the first four bytes");
    return read_bytes(shape, digits.size() / 2 - sizeof alignment, false,
                      [&](size_t i) { return byte_of(digits, sizeof alignment + i); });
  }

  static unsigned char byte_of(std::string_view digits, size_t i) {
    return static_cast<unsigned char>(hexadecimal_digit(digits[2 * i]) * 16 + hexadecimal_digit(digits[2 * i + 1]));
  }

  /// Reads `"0x..."`, with two digits for each byte.
  Result<std::string_view> read_digits() {
    if (text_.substr(at_, 3) != "\"0x") return fault("hexadecimal bytes: \"0x...\"");
    const size_t end = text_.find('"', at_ + 1);
    if (end == text_.npos) return fault("a closing quote");
    const size_t begin = at_ + 3;
    const std::string_view digits = text_.substr(begin, end - begin);
    for (size_t i = 0; i < digits.size(); ++i) {
      if (hexadecimal_digit(digits[i]) >= 0) continue;
      at_ = begin + i;
      return fault("a hexadecimal digit");
    }
    if (digits.size() % 2 != 0) return fault("two hexadecimal digits for each byte");
    return digits;
  }

  Result<Dense> read_blob(const Shape& shape) {
    LT_ASSIGN_OR_RETURN(const std::string_view digits, read_digits());
    return read_bytes(shape, digits.size() / 2, true, [&](size_t i) { return byte_of(digits, i); });
  }

  /// Reads all elements, which may be packed if they are narrower than a byte; or one for all, if `may_splat`.
  template <class F>
  Result<Dense> read_bytes(const Shape& shape, size_t bytes, bool may_splat, F&& byte_at) {
    const auto width = static_cast<size_t>(stored_bytes(shape.type));
    const auto count = static_cast<size_t>(element_count(shape));
    const auto bits = static_cast<size_t>(shape.type == ElementType::kPred ? 1 : type_bits(shape.type));
    const bool packed = bits < 8 && bytes != count && count > 1 && bytes == (count * bits + 7) / 8;
    const bool splat = may_splat && !packed && bytes == width && count != 1;
    if (!packed && !splat && (bytes / width != count || bytes % width != 0)) {
      return fault(fmt::format("{} bytes for {} elements", count * width, count));
    }
    Literal literal(splat ? Shape::scalar(shape.type) : shape);
    std::span<std::byte> out = literal.bytes();
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t per_byte = 8 / std::min<size_t>(bits, 8);
      const auto value = static_cast<unsigned>(packed ? byte_at(i / per_byte) >> (bits * (i % per_byte)) : byte_at(i));
      out[i] = shape.type == ElementType::kPred      ? static_cast<std::byte>((packed ? value & 1 : value) != 0)
               : bits < 8 && is_integral(shape.type) ? widen(value, shape.type)
               : bits < 8                            ? static_cast<std::byte>(value & ((1u << bits) - 1))
                                                     : static_cast<std::byte>(value);
    }
    return Dense{std::make_shared<const Literal>(std::move(literal)), splat};
  }

  std::string_view text_;
  Offset place_;
  const Source& source_;
  const MlirModule& module_;
  size_t at_ = 0;
};

constexpr int64_t kShortList = 32;

/// Appends a decimal number that gives the same bits when read as a double, or else the bits.
template <class T>
void append_number(T value, std::string& out) {
  if constexpr (is_complex_number<T>) {
    out += '(';
    append_number(value.real(), out);
    out += ',';
    append_number(value.imag(), out);
    out += ')';
  } else if constexpr (std::is_same_v<T, bool> || std::is_integral_v<T> || is_small_int<T>) {
    append_real(value, out);
  } else {
    std::string decimal;
    const auto wide = static_cast<double>(value);
    if (std::isfinite(wide)) {
      append_real(value, decimal);
      if (decimal == "0" || decimal == "-0.0") decimal = decimal == "0" ? "0.0" : "-0.0";
      const size_t exponent = std::min(decimal.find('e'), decimal.size());
      if (decimal.find('.') == std::string::npos) decimal.insert(exponent, ".0");
      double read = 0;
      if (!read_decimal(decimal, read) && bits_of(static_cast<T>(read)) == bits_of(value)) {
        out += decimal;
        return;
      }
    }
    out += fmt::format("0x{:0{}X}", bits_of(value), 2 * sizeof(T));
  }
}

template <class T>
void append_level(std::span<const T> elements, const Dims& dims, size_t level, size_t& next, std::string& out) {
  if (level == dims.size()) return append_number(elements[next++], out);
  out += '[';
  for (int64_t i = 0; i < dims[level]; ++i) {
    if (i > 0) out += ", ";
    append_level(elements, dims, level + 1, next, out);
  }
  out += ']';
}

}  // namespace

Result<Dense> read_dense(const MlirAttribute& attribute, const Shape& shape, const Source& source,
                         const MlirModule& module) {
  return DenseReader(attribute, source, module).read(shape);
}

const char* read_float_bits(std::string_view token, float& out) { return read_hexadecimal(token, out); }
const char* read_float_bits(std::string_view token, double& out) { return read_hexadecimal(token, out); }

std::string dense_text(const Literal& value) {
  if (!value.known()) return "dense_resource<__elided__>";
  std::string out = "dense<";
  if (value.size() > kShortList) {
    out += "\"0x";
    const int width = type_bits(value.shape().type);
    const unsigned mask = width < 8 ? (1u << width) - 1 : 0xff;  // MLIR leaves the upper bits of a short integer zero
    for (const std::byte byte : value.bytes()) {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      const auto bits = static_cast<unsigned>(byte) & mask;
      out += kDigits[bits >> 4];
      out += kDigits[bits & 15];
    }
    out += '"';
  } else if (value.size() > 0) {
    dispatch(value.shape().type, [&]<class T>() {
      size_t next = 0;
      append_level(value.data<T>(), value.shape().dims, 0, next, out);
    });
  }
  return out + '>';
}

}  // namespace lowtide::engine
