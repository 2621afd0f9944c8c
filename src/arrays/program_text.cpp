// Parses the attributes and constants of a program's operations.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "arrays/program.h"

namespace lowtide::lazy {
namespace {

/// The value of one key of `{size=3x3 stride=2x2}`; empty if it is absent.
std::string_view window_part(std::string_view window, std::string_view key) {
  for (size_t at = window.find(key); at != std::string_view::npos; at = window.find(key, at + 1)) {
    const bool begins = at == 0 || window[at - 1] == '{' || window[at - 1] == ' ';
    if (!begins || at + key.size() >= window.size() || window[at + key.size()] != '=') continue;
    const size_t from = at + key.size() + 1;
    return window.substr(from, window.find_first_of(" }", from) - from);
  }
  return {};
}

/// A constant's elements.
class Elements final : public Primitive {
 public:
  explicit Elements(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view name() const override { return "elements"; }
  void describe(Key& key) const override { key.text(bytes_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>&, const std::vector<Spec>& out) const override {
    return {to.elements(bytes_.data(), out[0].dtype, out[0].shape)};
  }
  Gradients vjp(const Backward&) const override { return {}; }
  std::vector<array> vmap(const Batch& batch) const override {
    const array one = apply(std::make_shared<Elements>(bytes_), {}, batch.outputs[0].shape, batch.outputs[0].dtype);
    return {with_batch(one, false, batch.count)};
  }

 private:
  std::string bytes_;
};

/// The number with these bytes, if a double represents it exactly.
std::optional<double> exact_number(const void* bytes, Dtype dtype) {
  const auto as = [&]<class T>() {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  };
  const auto whole = [](auto value) -> std::optional<double> {
    constexpr auto kExact = int64_t{1} << 53;
    if (std::cmp_greater(value, kExact) || std::cmp_less(value, -kExact)) return std::nullopt;
    return static_cast<double>(value);
  };
  const auto real = [](double value) { return std::isnan(value) ? std::nullopt : std::optional(value); };
  switch (dtype.val) {
    case Dtype::Val::bool_:
    case Dtype::Val::uint8: return whole(as.operator()<uint8_t>());
    case Dtype::Val::uint16: return whole(as.operator()<uint16_t>());
    case Dtype::Val::uint32: return whole(as.operator()<uint32_t>());
    case Dtype::Val::uint64: return whole(as.operator()<uint64_t>());
    case Dtype::Val::int8: return whole(as.operator()<int8_t>());
    case Dtype::Val::int16: return whole(as.operator()<int16_t>());
    case Dtype::Val::int32: return whole(as.operator()<int32_t>());
    case Dtype::Val::int64: return whole(as.operator()<int64_t>());
    case Dtype::Val::float16: return real(static_cast<double>(static_cast<float>(as.operator()<float16_t>())));
    case Dtype::Val::bfloat16: return real(static_cast<double>(static_cast<float>(as.operator()<bfloat16_t>())));
    case Dtype::Val::float32: return real(static_cast<double>(as.operator()<float>()));
    case Dtype::Val::float64: return real(as.operator()<double>());
    case Dtype::Val::complex64: break;
  }
  return std::nullopt;
}

}  // namespace

const std::string* attribute(const ProgramOperation& operation, std::string_view key) {
  const auto found = std::ranges::find(operation.attributes, key, &ModuleBuilder::Attribute::key);
  return found == operation.attributes.end() ? nullptr : &found->text;
}

Dims numbers_in(std::string_view text) {
  Dims found;
  for (size_t at = 0; at < text.size();) {
    int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (fault == std::errc()) found.push_back(number);
    at = fault == std::errc() ? static_cast<size_t>(end - text.data()) : at + 1;
  }
  return found;
}

Dims dims_of(const ProgramOperation& operation, std::string_view key) {
  const std::string* text = attribute(operation, key);
  return text ? numbers_in(*text) : Dims{};
}

int64_t integer_of(const ProgramOperation& operation, std::string_view key, int64_t absent) {
  const Dims numbers = dims_of(operation, key);
  return numbers.empty() ? absent : numbers[0];
}

bool flag_of(const ProgramOperation& operation, std::string_view key) {
  const std::string* text = attribute(operation, key);
  return text && *text == "true";
}

std::string word_of(const ProgramOperation& operation, std::string_view key) {
  const std::string* text = attribute(operation, key);
  return text ? *text : std::string();
}

ProgramWindow window_of(const ProgramOperation& operation, size_t dimensions) {
  const std::string text = word_of(operation, "window");
  const auto list = [&](std::string_view key, int64_t absent) {
    const Dims found = numbers_in(window_part(text, key));
    return found.empty() ? Dims(dimensions, absent) : found;
  };
  ProgramWindow window{.size = list("size", 1),
                       .stride = list("stride", 1),
                       .input_dilation = list("lhs_dilate", 1),
                       .dilation = list("rhs_dilate", 1),
                       .reversal = list("rhs_reversal", 0)};
  Dims pads = numbers_in(window_part(text, "pad"));
  pads.resize(2 * dimensions);
  for (size_t d = 0; d < dimensions; ++d) {
    window.low.push_back(pads[2 * d]);
    window.high.push_back(pads[2 * d + 1]);
  }
  return window;
}

std::optional<Op> binary_of(const ProgramFunction& function) {
  const ProgramOperation& result = function.operations[function.result];
  if (result.operands.size() != 2) return std::nullopt;
  const int64_t first = function.operations[result.operands[0]].parameter;
  const int64_t second = function.operations[result.operands[1]].parameter;
  if (first < 0 || second < 0 || first + second != 1) return std::nullopt;
  for (const auto& operation : function.operations) {
    if (operation.parameter >= 0 && operation.shape.type != result.shape.type) return std::nullopt;
  }
  constexpr std::pair<std::string_view, Op> kFolds[] = {{"add", Op::kAdd},         {"multiply", Op::kMultiply},
                                                        {"maximum", Op::kMaximum}, {"minimum", Op::kMinimum},
                                                        {"and", Op::kAnd},         {"or", Op::kOr}};
  for (const auto& [name, op] : kFolds) {
    if (result.operation == name) return op;
  }
  return std::nullopt;
}

bool is_start_of(const At& at, size_t operand, Op fold) {
  const Source source = source_of(at.function, at.operation.operands[operand], 0);
  const ProgramOperation& constant = at.function.operations[source.operation];
  if (!constant.elements || !constant.shape.dims.empty()) return false;
  const Dtype dtype = leaf_specs(constant)[0].dtype;
  const auto number = exact_number(constant.elements.get(), dtype);
  if (!number) return false;
  const bool is_float = issubdtype(dtype, floating);
  switch (fold) {
    case Op::kAdd:
    case Op::kOr: return *number == 0;
    case Op::kMultiply: return *number == 1;
    case Op::kAnd: return dtype.val == Dtype::Val::bool_ && *number == 1;
    case Op::kMaximum: return is_float ? *number == -INFINITY : dtype.val == Dtype::Val::bool_ && *number == 0;
    case Op::kMinimum: return is_float ? *number == INFINITY : dtype.val == Dtype::Val::bool_ && *number == 1;
    default: return false;
  }
}

bool is_infinite(const At& at, size_t operand) {
  const auto& operations = at.function.operations;
  const ProgramOperation* value = &operations[source_of(at.function, at.operation.operands[operand], 0).operation];
  while (value->operation == "broadcast") value = &operations[value->operands[0]];
  if (!value->elements || !value->shape.dims.empty()) return false;
  const auto number = exact_number(value->elements.get(), leaf_specs(*value)[0].dtype);
  return number && std::isinf(*number);
}

array literal_of(const ProgramOperation& constant) {
  const auto [shape, dtype] = leaf_specs(constant)[0];
  const size_t width = dtype.size(), bytes = static_cast<size_t>(element_count(shape)) * width;
  const char* const elements = static_cast<const char*>(constant.elements.get());
  constexpr size_t kInProgram = 4096;  // larger constants are inputs, so that keys of graphs stay short
  if (bytes > kInProgram) {
    return array(const_cast<char*>(elements), shape, dtype, [keep = constant.elements](void*) {});
  }
  bool same = bytes > 0;
  for (size_t at = width; same && at < bytes; at += width) same = std::memcmp(elements, elements + at, width) == 0;
  if (const auto number = same ? exact_number(elements, dtype) : std::nullopt)
    return lazy::constant(*number, dtype, shape);
  return apply(std::make_shared<Elements>(std::string(elements, bytes)), {}, shape, dtype);
}

}  // namespace lowtide::lazy
