#include "arrays/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "arrays/program.h"

namespace lowtide::lazy {

std::string_view hlo_type(Dtype type) {
  constexpr std::string_view kNames[] = {"pred", "u8",  "u16", "u32",  "u64", "s8",  "s16",
                                         "s32",  "s64", "f16", "bf16", "f32", "f64", "c64"};
  return kNames[static_cast<int>(type.val)];
}

std::string list_text(const std::vector<int64_t>& numbers) { return fmt::format("{{{}}}", fmt::join(numbers, ",")); }

namespace {

ModuleBuilder::Shape shape_of(const Shape& shape, Dtype dtype) { return {std::string(hlo_type(dtype)), shape, {}}; }

ModuleBuilder::Shape shape_of(const std::vector<Spec>& elements) {
  ModuleBuilder::Shape tuple{"tuple", {}, {}};
  for (const auto& [shape, dtype] : elements) tuple.elements.push_back(shape_of(shape, dtype));
  return tuple;
}

/// The bytes of a number as an element of this type.
std::string element_bytes(double value, Dtype dtype) {
  const auto bytes = [](auto element) { return std::string(reinterpret_cast<const char*>(&element), sizeof element); };
  switch (dtype.val) {
    case Dtype::Val::bool_: return bytes(value != 0);
    case Dtype::Val::uint8: return bytes(static_cast<uint8_t>(value));
    case Dtype::Val::uint16: return bytes(static_cast<uint16_t>(value));
    case Dtype::Val::uint32: return bytes(static_cast<uint32_t>(value));
    case Dtype::Val::uint64: return bytes(static_cast<uint64_t>(value));
    case Dtype::Val::int8: return bytes(static_cast<int8_t>(value));
    case Dtype::Val::int16: return bytes(static_cast<int16_t>(value));
    case Dtype::Val::int32: return bytes(static_cast<int32_t>(value));
    case Dtype::Val::int64: return bytes(static_cast<int64_t>(value));
    case Dtype::Val::float16: return bytes(float16_t(static_cast<float>(value)));
    case Dtype::Val::bfloat16: return bytes(bfloat16_t(static_cast<float>(value)));
    case Dtype::Val::float32: return bytes(static_cast<float>(value));
    case Dtype::Val::float64: return bytes(value);
    case Dtype::Val::complex64: return bytes(complex64_t(static_cast<float>(value), 0));
  }
  return {};
}

}  // namespace

Term Lowering::parameter(const Shape& shape, Dtype dtype) {
  return {this, function_.parameter(std::string(hlo_type(dtype)), shape), dtype, shape};
}

Term Lowering::add(std::string_view operation, const std::vector<Term>& operands, Attributes attributes, Shape shape,
                   Dtype dtype) {
  std::vector<ModuleBuilder::Value> values;
  for (const Term& operand : operands) values.push_back(operand.value);
  const auto value = function_.add(operation, std::move(values), std::move(attributes), shape_of(shape, dtype));
  return {this, value, dtype, std::move(shape)};
}

std::vector<Term> Lowering::add_tuple(std::string_view operation, const std::vector<Term>& operands,
                                      Attributes attributes, const std::vector<Spec>& results) {
  std::vector<ModuleBuilder::Value> values;
  for (const Term& operand : operands) values.push_back(operand.value);
  return parts(function_.add(operation, std::move(values), std::move(attributes), shape_of(results)), results);
}

std::vector<Term> Lowering::parts(ModuleBuilder::Value tuple, const std::vector<Spec>& results) {
  std::vector<Term> terms;
  for (size_t r = 0; r < results.size(); ++r) {
    const auto& [shape, dtype] = results[r];
    const auto value =
        function_.add("get-tuple-element", {tuple}, {{"index", std::to_string(r)}}, shape_of(shape, dtype));
    terms.push_back({this, value, dtype, shape});
  }
  return terms;
}

ModuleBuilder::Value Lowering::tuple(const std::vector<Term>& terms) {
  std::vector<ModuleBuilder::Value> values;
  std::vector<Spec> shapes;
  for (const Term& term : terms) {
    values.push_back(term.value);
    shapes.push_back({term.shape, term.dtype});
  }
  return function_.add("tuple", std::move(values), {}, shape_of(shapes));
}

std::vector<Term> Lowering::tuple_parameter(const std::vector<Spec>& elements) {
  return parts(function_.parameter(shape_of(elements)), elements);
}

Term Lowering::constant(double value, Dtype dtype, const Shape& shape) {
  const std::string bytes = element_bytes(value, dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  return this->bits(bits, dtype, shape);
}

Term Lowering::bits(uint64_t bits, Dtype dtype, const Shape& shape) {
  const std::string key = fmt::format("{} {} {}", hlo_type(dtype), bits, list_text(shape));
  if (const auto known = constants_.find(key); known != constants_.end()) return known->second;
  Term made;
  if (shape.empty()) {
    made = {this, function_.constant(std::string(hlo_type(dtype)), {}, &bits), dtype, {}};
  } else {
    made = splat(this->bits(bits, dtype), shape);
  }
  return constants_.emplace(key, std::move(made)).first->second;
}

Term Lowering::table(const std::vector<double>& values, Dtype dtype) {
  std::string bytes;
  for (const double value : values) bytes += element_bytes(value, dtype);
  const Shape shape = {static_cast<int64_t>(values.size())};
  return {this, function_.constant(std::string(hlo_type(dtype)), shape, bytes.data()), dtype, shape};
}

Term Lowering::elements(const void* elements, Dtype dtype, const Shape& shape) {
  return {this, function_.constant(std::string(hlo_type(dtype)), shape, elements), dtype, shape};
}

Term Lowering::iota(const Shape& shape, Dtype dtype, int64_t dimension) {
  return add("iota", {}, {{"iota_dimension", std::to_string(dimension)}}, shape, dtype);
}

Term Lowering::broadcast(const Term& a, const Shape& shape, const std::vector<int64_t>& dimensions) {
  if (a.shape == shape) return a;
  return add("broadcast", {a}, {{"dimensions", list_text(dimensions)}}, shape, a.dtype);
}

Term Lowering::reshape(const Term& a, const Shape& shape) {
  return a.shape == shape ? a : add("reshape", {a}, {}, shape, a.dtype);
}

Term Lowering::convert(const Term& a, Dtype dtype) {
  return a.dtype.val == dtype.val ? a : add("convert", {a}, {}, a.shape, dtype);
}

Term Lowering::bitcast(const Term& a, Dtype dtype) { return add("bitcast-convert", {a}, {}, a.shape, dtype); }

Term Lowering::select(const Term& condition, const Term& yes, const Term& no) {
  return add("select", {condition, yes, no}, {}, yes.shape, yes.dtype);
}

Term Lowering::compare(const Term& a, const Term& b, std::string_view direction) {
  return add("compare", {a, b}, {{"direction", std::string(direction)}}, a.shape, bool_);
}

Term Lowering::slice(const Term& a, const std::vector<int64_t>& starts, const std::vector<int64_t>& stops,
                     const std::vector<int64_t>& strides) {
  std::string text = "{";
  Shape shape;
  for (size_t d = 0; d < starts.size(); ++d) {
    text += fmt::format("{}[{}:{}:{}]", d ? ", " : "", starts[d], stops[d], strides[d]);
    shape.push_back(std::max<int64_t>(0, (stops[d] - starts[d] + strides[d] - 1) / strides[d]));
  }
  if (shape == a.shape) return a;
  return add("slice", {a}, {{"slice", text + "}"}}, std::move(shape), a.dtype);
}

Term Lowering::start_of(Reducer reducer, Dtype dtype) {
  switch (reducer) {
    case Reducer::kSum:
    case Reducer::kOr: return constant(0, dtype);
    case Reducer::kProduct: return constant(1, dtype);
    case Reducer::kAnd: return bits(dtype.val == Dtype::Val::bool_ ? 1 : ~uint64_t{0}, dtype);
    case Reducer::kMaximum:
    case Reducer::kMinimum: break;
  }
  const bool most = reducer == Reducer::kMaximum;
  if (issubdtype(dtype, floating)) return constant(most ? -INFINITY : INFINITY, dtype);
  if (dtype.val == Dtype::Val::complex64) return bits(most ? 0xff800000ff800000 : 0x7f8000007f800000, dtype);
  if (dtype.val == Dtype::Val::bool_) return bits(most ? 0 : 1, dtype);
  const int width = 8 * dtype.size();
  const uint64_t ones = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1, sign = uint64_t{1} << (width - 1);
  const bool is_signed = issubdtype(dtype, signedinteger);
  if (most) return bits(is_signed ? sign : 0, dtype);
  return bits(is_signed ? ones ^ sign : ones, dtype);
}

Term Lowering::reduce(const Term& a, Reducer reducer, const std::vector<int64_t>& dimensions) {
  const Term first = start_of(reducer, a.dtype);
  Shape shape;
  std::vector<bool> gone(a.shape.size(), false);
  for (const int64_t d : dimensions) gone[d] = true;
  for (size_t d = 0; d < gone.size(); ++d) {
    if (!gone[d]) shape.push_back(a.shape[d]);
  }
  return add("reduce", {a, first},
             {{"dimensions", list_text(dimensions)}, {"to_apply", this->reducer(reducer, a.dtype)}}, std::move(shape),
             a.dtype);
}

std::string Lowering::reducer(Reducer reducer, Dtype dtype) {
  constexpr std::string_view kOperations[] = {"add", "multiply", "maximum", "minimum", "and", "or"};
  std::string_view operation = kOperations[static_cast<int>(reducer)];
  const std::string known_as = fmt::format("{} {}", operation, hlo_type(dtype));
  if (const auto known = module_.reducers.find(known_as); known != module_.reducers.end()) return known->second;
  Nested function = nested(fmt::format("{}_{}", operation, hlo_type(dtype)));
  const Term a = function.lowering->parameter({}, dtype), b = function.lowering->parameter({}, dtype);
  function.lowering->finish({function.lowering->binary(operation, a, b)});
  module_.reducers.emplace(known_as, function.name);
  return function.name;
}

Lowering::Nested Lowering::nested(std::string_view name) {
  Nested made;
  made.name = fmt::format("{}.{}", name, ++module_.functions);
  made.lowering = std::make_unique<Lowering>(module_, module_.builder.function(made.name));
  return made;
}

void Lowering::finish(const std::vector<Term>& results) {
  std::vector<ModuleBuilder::Value> values;
  for (const Term& term : results) values.push_back(term.value);
  function_.result(std::move(values));
}

void Lowering::finish_tuple(const std::vector<Term>& results) { function_.result({tuple(results)}); }

Attributes Lowering::attributes_of(const Program& program, const ProgramOperation& operation) {
  Attributes attributes = operation.attributes;
  if (operation.functions.empty()) return attributes;
  for (auto& [key, text] : attributes) {
    if (key == "backend_config") continue;
    for (size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
      const size_t end = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
      const std::string name = copy_of(program, std::stoul(text.substr(at + 1, end - at - 1)));
      text.replace(at + 1, end - at - 1, name);
    }
  }
  return attributes;
}

std::string Lowering::copy_of(const Program& program, size_t function) {
  const std::string text = text_of(program, function);
  if (const auto known = module_.copies.find(text); known != module_.copies.end()) return known->second;
  const ProgramFunction& of = program.functions[function];
  Nested made = nested("function");
  Lowering& to = *made.lowering;
  std::vector<const ProgramOperation*> parameters;
  for (const ProgramOperation& operation : of.operations) {
    if (operation.parameter < 0) continue;
    parameters.resize(std::max(parameters.size(), static_cast<size_t>(operation.parameter) + 1));
    parameters[operation.parameter] = &operation;
  }
  std::vector<ModuleBuilder::Value> given, values;
  for (const ProgramOperation* parameter : parameters) given.push_back(to.function_.parameter(parameter->shape));
  for (const ProgramOperation& operation : of.operations) {
    if (operation.parameter >= 0) {
      values.push_back(given[operation.parameter]);
    } else if (operation.elements) {
      values.push_back(to.function_.constant(operation.shape.type, operation.shape.dims, operation.elements.get()));
    } else {
      std::vector<ModuleBuilder::Value> operands;
      for (const size_t operand : operation.operands) operands.push_back(values[operand]);
      values.push_back(to.function_.add(operation.operation, std::move(operands), to.attributes_of(program, operation),
                                        operation.shape));
    }
  }
  to.function_.result({values[of.result]});
  module_.copies.emplace(text, made.name);
  return made.name;
}

std::vector<Term> Lowering::loop(const std::vector<Term>& init, const std::string& condition, const std::string& body) {
  std::vector<Spec> specs;
  for (const Term& term : init) specs.push_back({term.shape, term.dtype});
  return parts(function_.add("while", {tuple(init)}, {{"condition", condition}, {"body", body}}, shape_of(specs)),
               specs);
}

std::vector<Term> Lowering::branch(const Term& pred, const std::vector<Term>& of_true, const std::string& on_true,
                                   const std::vector<Term>& of_false, const std::string& on_false,
                                   const std::vector<Spec>& results) {
  return parts(function_.add("conditional", {pred.value, tuple(of_true), tuple(of_false)},
                             {{"true_computation", on_true}, {"false_computation", on_false}}, shape_of(results)),
               results);
}

std::vector<Term> Lowering::inlined(const std::vector<array>& from, const std::vector<array>& outputs,
                                    const std::vector<Term>& inputs) {
  std::unordered_map<const array::State*, Term> known;
  for (size_t i = 0; i < from.size(); ++i) known.emplace(from[i].state().get(), inputs[i]);
  for (const auto& step : steps_below(outputs, from)) {
    std::vector<Term> terms;
    for (const array& input : step->inputs) {
      const auto found = known.find(input.state().get());
      if (found == known.end()) throw std::logic_error("a function uses a value that it isn't given");
      terms.push_back(found->second);
    }
    const std::vector<Term> results = step->primitive->lower(*this, terms, step->specs);
    for (size_t r = 0; r < results.size(); ++r) {
      if (const auto state = step->outputs[r].lock()) known.emplace(state.get(), results[r]);
    }
  }
  std::vector<Term> results;
  for (const array& output : outputs) results.push_back(known.at(output.state().get()));
  return results;
}

namespace {
Term binary(std::string_view operation, const Term& a, const Term& b) { return a.to->binary(operation, a, b); }
Term number_like(const Term& a, double value) { return a.to->constant(value, a.dtype, a.shape); }
}  // namespace

Term operator+(const Term& a, const Term& b) { return binary("add", a, b); }
Term operator-(const Term& a, const Term& b) { return binary("subtract", a, b); }
Term operator*(const Term& a, const Term& b) { return binary("multiply", a, b); }
Term operator/(const Term& a, const Term& b) { return binary("divide", a, b); }
Term operator^(const Term& a, const Term& b) { return binary("xor", a, b); }
Term operator|(const Term& a, const Term& b) { return binary("or", a, b); }
Term operator&(const Term& a, const Term& b) { return binary("and", a, b); }
Term operator+(const Term& a, double b) { return a + number_like(a, b); }
Term operator-(const Term& a, double b) { return a - number_like(a, b); }
Term operator*(const Term& a, double b) { return a * number_like(a, b); }
Term operator-(const Term& a) { return a.to->unary("negate", a); }
Term operator<(const Term& a, const Term& b) { return a.to->compare(a, b, "LT"); }
Term operator>(const Term& a, double b) { return a.to->compare(a, number_like(a, b), "GT"); }
Term operator<(const Term& a, double b) { return a.to->compare(a, number_like(a, b), "LT"); }
Term shift_left(const Term& a, int by) { return binary("shift-left", a, number_like(a, by)); }
Term shift_right(const Term& a, int by) { return binary("shift-right-logical", a, number_like(a, by)); }

Term rounded(const Term& a) {
  if (a.dtype.val != Dtype::Val::float32) return a;
  return a.to->add("reduce-precision", {a}, {{"exponent_bits", "8"}, {"mantissa_bits", "23"}}, a.shape, a.dtype);
}

}  // namespace lowtide::lazy
