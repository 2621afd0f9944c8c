#include "ops/literal_text.h"

#include <fmt/format.h>

#include "base/text_hash.h"
#include "ops/number_text.h"
#include "ops/text_cursor.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestTuple = 64;
constexpr int64_t kShortArray = 10;  // arrays of up to so many elements are never abbreviated
constexpr int64_t kLongArray = 4096;

/// Reads one element. Returns null, or what was expected instead of the token.
const char* read_element(std::string_view token, auto& out) {
  using T = std::remove_reference_t<decltype(out)>;
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    typename T::value_type real = 0, imaginary = 0;
    if (token.starts_with('(') && token.ends_with(')')) {
      const size_t comma = token.find(',');
      if (comma == std::string_view::npos) return "(real, imaginary)";
      const auto part = [&](size_t begin, size_t end) {
        while (begin < end && is_space(token[begin])) ++begin;
        while (end > begin && is_space(token[end - 1])) --end;
        return token.substr(begin, end - begin);
      };
      if (read_real(part(comma + 1, token.size() - 1), imaginary)) return "(real, imaginary)";
      token = part(1, comma);
    }
    if (read_real(token, real)) return "(real, imaginary)";
    out = T(real, imaginary);
    return nullptr;
  } else {
    return read_real(token, out);
  }
}

class Reader {
 public:
  Reader(std::string_view text, const Source& source, Offset place) : text_(text), source_(source), place_(place) {}

  Result<Value> read(const Shape& shape, int depth) {
    if (shape.is_tuple()) return read_tuple(shape, depth);
    if (shape.type == ElementType::kToken) {
      at_ = std::min(text_.size(), at_ + (text_.substr(at_).starts_with("token") ? 5 : 0));
      return std::make_shared<const Literal>(Literal::token());
    }
    if (!shape.is_array()) return fault("a constant", "an array or a tuple as the shape of a constant");
    for (const int64_t extent : shape.dims) {
      if (extent < 0) return fault("an unbounded shape", "known extents in the shape of a constant");
    }
    return read_array(shape);
  }

  Status finish() {
    at_ = skip_blank(text_, at_);
    return at_ == text_.size() ? Status() : fault(found(), "the end of the constant");
  }

 private:
  char peek() {
    at_ = skip_blank(text_, at_);
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::string found() {
    if (peek() == '\0') return "the end of the constant";
    const size_t end = std::min(text_.find_first_of(" \t\n,{}", at_ + 1), text_.size());
    return fmt::format("'{}'", text_.substr(at_, std::min<size_t>(end - at_, 40)));
  }

  Status fault(const std::string& found, std::string_view expected) {
    const Offset place = place_ == kNowhere ? kNowhere : place_ + static_cast<Offset>(at_);
    return Status::input(fmt::format("found {}, expected {}", found, expected)).at(source_, place);
  }

  bool eat_dots() {
    if (peek() != '.' || text_.substr(at_, 3) != "...") return false;
    at_ += 3;
    return true;
  }

  Result<Value> read_tuple(const Shape& shape, int depth) {
    if (depth > kDeepestTuple) return fault(found(), "a tuple that is not nested this deeply");
    if (peek() == '{') {  // XLA abbreviates whole tuples as well
      ++at_;
      if (!eat_dots() || peek() != '}') return fault(found(), "{...}");
      ++at_;
      return unknown(shape);
    }
    if (peek() != '(') return fault(found(), "'('");
    ++at_;
    std::vector<Value> parts;
    for (const Shape& element : shape.elements) {
      if (!parts.empty() && peek() == ',') ++at_;
      LT_ASSIGN_OR_RETURN(Value part, read(element, depth + 1));
      parts.push_back(std::move(part));
    }
    if (peek() != ')') return fault(found(), fmt::format("')' behind {} values", shape.elements.size()));
    ++at_;
    return std::make_shared<const Literal>(std::move(parts));
  }

  static Value unknown(const Shape& shape) {
    if (shape.type == ElementType::kToken) return std::make_shared<const Literal>(Literal::token());
    if (!shape.is_tuple()) return std::make_shared<const Literal>(Literal::unknown(shape));
    std::vector<Value> parts;
    for (const Shape& element : shape.elements) parts.push_back(unknown(element));
    return std::make_shared<const Literal>(std::move(parts));
  }

  Result<Value> read_array(const Shape& shape) {
    const size_t begin = at_;
    if (peek() == '{') {
      ++at_;
      if (eat_dots()) {
        if (peek() != '}') return fault(found(), "'}'");
        ++at_;
        return unknown(shape);
      }
      at_ = begin;
    }
    // Every element needs at least one character: reject sizes that the text can't fill, before allocating.
    const int64_t count = element_count(shape);
    if (count > static_cast<int64_t>(text_.size() - at_)) {
      return fault(found(), fmt::format("{} elements for {}", count, to_string_without_layout(shape)));
    }
    auto literal = std::make_shared<Literal>(shape);
    Status status = dispatch(shape.type, [&]<class T>() { return read_elements(literal->data<T>(), shape.dims); });
    if (!status.ok()) return status;
    return Value(std::move(literal));
  }

  template <class T>
  Status read_elements(std::span<T> elements, const Dims& dims) {
    const size_t rank = dims.size();
    Dims seen;  // elements or rows read so far on each open level
    size_t next = 0;
    do {
      const char c = peek();
      if (c == '{') {
        if (seen.size() == rank) return fault("'{'", rank == 0 ? "one number" : "a number");
        ++at_;
        seen.push_back(0);
      } else if (c == '}') {
        if (seen.empty()) return fault("'}'", "a number");
        const int64_t wanted = dims[seen.size() - 1];
        if (seen.back() != wanted) {
          return fault(fmt::format("{} entries", seen.back()),
                       fmt::format("{} in dimension {}", wanted, seen.size() - 1));
        }
        ++at_;
        seen.pop_back();
        if (!seen.empty()) ++seen.back();
      } else if (c == ',' && !seen.empty()) {
        ++at_;
      } else {
        if (seen.size() != rank) return fault(found(), "'{'");
        if (rank > 0 && (seen.back() == dims.back() || next == elements.size())) {
          return fault(found(), fmt::format("'}}' behind {} elements", dims.back()));
        }
        LT_RETURN_IF_ERROR(read_one(elements[next++]));
        if (rank > 0) ++seen.back();
      }
      if (!seen.empty() && seen.size() < rank + 1 && seen.back() > dims[seen.size() - 1]) {
        return fault(fmt::format("{} entries", seen.back()),
                     fmt::format("{} in dimension {}", dims[seen.size() - 1], seen.size() - 1));
      }
    } while (!seen.empty());
    return {};
  }

  template <class T>
  Status read_one(T& out) {
    size_t end = at_;
    for (int open = 0; end < text_.size(); ++end) {
      const char c = text_[end];
      if (c == '(') {
        ++open;
      } else if (c == ')') {
        if (open == 0) break;
        --open;
      } else if (open == 0 && (is_space(c) || c == ',' || c == '{' || c == '}')) {
        break;
      }
    }
    if (const char* expected = read_element(text_.substr(at_, end - at_), out)) return fault(found(), expected);
    at_ = end;
    return {};
  }

  std::string_view text_;
  const Source& source_;
  Offset place_;
  size_t at_ = 0;
};

}  // namespace

Result<Value> parse_literal(std::string_view text, const Shape& shape, const Source& source, Offset place) {
  Reader reader(text, source, place);
  LT_ASSIGN_OR_RETURN(Value value, reader.read(shape, 0));
  LT_RETURN_IF_ERROR(reader.finish());
  return value;
}

namespace {

template <class T>
void append_element(T value, std::string& out) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    out += '(';
    append_real(value.real(), out);
    out += ", ";
    append_real(value.imag(), out);
    out += ')';
  } else {
    append_real(value, out);
  }
}

}  // namespace

std::string element_text(const Literal& array, int64_t element) {
  std::string out;
  dispatch(array.shape().type, [&]<class T>() { append_element(static_cast<T>(array.data<T>()[element]), out); });
  return out;
}

namespace {

template <class T>
void print_elements(std::span<const T> elements, const Dims& dims, std::string& out) {
  const auto one = [&](T value) {
    if constexpr (std::is_same_v<T, bool>) {
      out += dims.empty() ? (value ? "true" : "false") : (value ? "1" : "0");
    } else {
      append_element(value, out);
    }
  };
  if (dims.empty()) return one(elements[0]);
  // Counts through all dimensions but the last, with braces where an index changes.
  const size_t rank = dims.size();
  Dims index(rank, 0);
  size_t next = 0, level = 0;
  out += '{';
  while (true) {
    if (level + 1 == rank) {
      const bool spaced = rank > 1 && dims[level] > 1;  // like XLA
      if (spaced) out += ' ';
      for (int64_t i = 0; i < dims[level]; ++i) {
        if (i > 0) out += ", ";
        one(elements[next++]);
      }
      if (spaced) out += ' ';
    } else if (index[level] < dims[level]) {
      out += index[level] > 0 ? ", {" : " {";
      index[++level] = 0;
      continue;
    } else {
      out += ' ';
    }
    out += '}';
    if (level == 0) return;
    ++index[--level];
  }
}

}  // namespace

void print_literal(const Literal& value, LargeConstants large, std::string& out) {
  const Shape& shape = value.shape();
  if (shape.is_tuple()) {
    bool all_known = true;
    for (const Value& part : value.parts()) all_known = all_known && part->known();
    if (!all_known) {
      out += "{...}";
      return;
    }
    out += '(';
    for (size_t i = 0; i < value.parts().size(); ++i) {
      if (i > 0) out += ", ";
      print_literal(*value.parts()[i], large, out);
    }
    out += ')';
  } else if (!shape.is_array()) {
    out += "token[]";
  } else if (!value.known() || (large == LargeConstants::kShort && value.size() > kShortArray)) {
    out += "{...}";
  } else if (large == LargeConstants::kNamed && value.size() > kLongArray) {
    const TextHash hash = hash_text({reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size()});
    out += fmt::format("{{#{:016x}{:016x}}}", hash.high, hash.low);
  } else {
    dispatch(shape.type, [&]<class T>() { print_elements<T>(value.data<T>(), shape.dims, out); });
  }
}

}  // namespace lowtide::engine
