// Rules for elementwise operations, operations that move elements, and calls.
#include <fmt/format.h>

#include <algorithm>

#include "arrays/program.h"
#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

struct ElementRow {
  const char* name;
  Op op;
};
constexpr ElementRow kElements[] = {
    {"abs", Op::kAbs},
    {"acos", Op::kAcos},
    {"acosh", Op::kAcosh},
    {"add", Op::kAdd},
    {"and", Op::kAnd},
    {"asin", Op::kAsin},
    {"asinh", Op::kAsinh},
    {"atan2", Op::kAtan2},
    {"atanh", Op::kAtanh},
    {"ceil", Op::kCeil},
    {"complex", Op::kComplex},
    {"cosh", Op::kCosh},
    {"cosine", Op::kCos},
    {"divide", Op::kDivide},
    {"erf", Op::kErf},
    {"exponential", Op::kExp},
    {"exponential-minus-one", Op::kExpm1},
    {"floor", Op::kFloor},
    {"imag", Op::kImag},
    {"is-finite", Op::kIsFinite},
    {"log", Op::kLog},
    {"log-plus-one", Op::kLog1p},
    {"logistic", Op::kLogistic},
    {"maximum", Op::kMaximum},
    {"minimum", Op::kMinimum},
    {"multiply", Op::kMultiply},
    {"negate", Op::kNegate},
    {"not", Op::kNot},
    {"or", Op::kOr},
    {"power", Op::kPower},
    {"real", Op::kReal},
    {"remainder", Op::kRemainder},
    {"round-nearest-even", Op::kRound},
    {"rsqrt", Op::kRsqrt},
    {"shift-left", Op::kShiftLeft},
    {"sign", Op::kSign},
    {"sine", Op::kSin},
    {"sinh", Op::kSinh},
    {"sqrt", Op::kSqrt},
    {"subtract", Op::kSubtract},
    {"tan", Op::kTan},
    {"tanh", Op::kTanh},
    {"xor", Op::kXor},
};

Dtype result_type(const At& at) { return leaf_specs(at.operation)[0].dtype; }
Shape result_shape(const At& at) { return leaf_specs(at.operation)[0].shape; }

Leaves by_row(const At& at) {
  const Op op = std::ranges::find(kElements, at.operation.operation, &ElementRow::name)->op;
  Leaves operands;
  for (const Leaves& leaves : at.in) operands.push_back(leaves.front());
  return {elementwise(op, std::move(operands), result_type(at))};
}

Leaves without_derivative(const At& at) { return verbatim(at, zero, by_element(at)); }
Leaves first_operand(const At& at) { return at.in[0]; }
Leaves nothing(const At&) { return {}; }

template <Gradients (*D)(const Backward&)>
Leaves with_derivative(const At& at) {
  return verbatim(at, D, by_element(at));
}
Gradients of_cube_root(const Backward& b) {
  const array &c = b.cotangents[0], &x = b.inputs[0], &y = b.outputs[0];
  return {c * y / (x * constant(3, x.dtype()))};
}
Gradients of_arc_tangent(const Backward& b) {
  const array &c = b.cotangents[0], &x = b.inputs[0];
  return {c / (constant(1, x.dtype()) + x * x)};
}

/// x times infinity: programs select it where a function has a pole. At other elements the cotangent is 0, and so is
/// x's gradient, instead of 0 times infinity.
Leaves product(const At& at) {
  if (!is_infinite(at, 0) && !is_infinite(at, 1)) return by_row(at);
  const auto derivative = [](const Backward& b) -> Gradients {
    const array &c = b.cotangents[0], none = zeros_like(c);
    const array is_none = equal(c, none);
    return {where(is_none, none, c * b.inputs[1]), where(is_none, none, c * b.inputs[0])};
  };
  return verbatim(at, derivative, by_element(at));
}

Leaves absolute(const At& at) {
  if (at[0].dtype().val != Dtype::Val::complex64) return by_row(at);
  return verbatim(at, as_of([](const Leaves& in, const Leaves&) -> Leaves {
                    const array re = real(in[0]), im = imag(in[0]);
                    return {sqrt(re * re + im * im)};
                  }),
                  by_element(at));
}

Leaves compare(const At& at) {
  if (word_of(at.operation, "type") == "TOTALORDER") return without_derivative(at);
  constexpr std::pair<std::string_view, Op> kDirections[] = {{"EQ", Op::kEq}, {"NE", Op::kNe}, {"LT", Op::kLt},
                                                             {"LE", Op::kLe}, {"GT", Op::kGt}, {"GE", Op::kGe}};
  const std::string direction = word_of(at.operation, "direction");
  for (const auto& [name, op] : kDirections) {
    if (name == direction) return {elementwise(op, {at[0], at[1]}, bool_)};
  }
  refuse(at.operation, "has no known direction");
}

Leaves select(const At& at) {
  const array pred = broadcast_in(at[0], at[1].shape(), {});
  Leaves made;
  for (size_t leaf = 0; leaf < at.in[1].size(); ++leaf) {
    const array &yes = at.in[1][leaf], &no = at.in[2][leaf];
    const array which = at[0].ndim() == 0 ? broadcast_in(at[0], yes.shape(), {}) : at[0];
    made.push_back(elementwise(Op::kSelect, {which, yes, no}, yes.dtype()));
  }
  return made;
}

/// x has a gradient only strictly between the bounds; a bound gets the cotangents of the elements beyond it.
Leaves clamp(const At& at) {
  const auto derivative = [](const Backward& b) -> Gradients {
    const array &c = b.cotangents[0], &x = b.inputs[1];
    const array low = broadcast_in(b.inputs[0], x.shape(), {}), high = broadcast_in(b.inputs[2], x.shape(), {});
    const auto where_true = [&](const array& a, const array& mine) -> array {
      const array here = where(a, c, zeros_like(c));
      return mine.ndim() == 0 && c.ndim() > 0 ? sum(here) : here;
    };
    return {where_true(logical_and(less(x, low), less(low, high)), b.inputs[0]),
            where_true(logical_and(greater(x, low), less(x, high)), x), where_true(greater(x, high), b.inputs[2])};
  };
  if (at[0].shape() == at[1].shape() && at[2].shape() == at[1].shape()) return verbatim(at, derivative, by_element(at));
  return verbatim(at, derivative, batched_as([](const Leaves& in, const Leaves&) -> Leaves {
                    const array low = broadcast_in(in[0], in[1].shape(), {}),
                                high = broadcast_in(in[2], in[1].shape(), {});
                    return {minimum(maximum(in[1], low), high)};
                  }));
}

Leaves convert(const At& at) { return {as_type(at[0], result_type(at), {})}; }

Leaves bitcast(const At& at) {
  if (result_type(at).val != at[0].dtype().val) refuse(at.operation, "changes the element type");
  return {reshape_to(at[0], result_shape(at))};
}

/// The derivative ignores the rounding; the cotangent is rounded in the same way.
Leaves reduce_precision(const At& at) {
  const auto derivative = [program = at.program, &function = at.function,
                           operation = at.operation](const Backward& b) -> Gradients {
    const Leaves rounded = reduce_precision({program, function, operation, {{b.cotangents[0]}}});
    return {rounded[0]};
  };
  return verbatim(at, derivative, by_element(at));
}

Leaves barrier(const At& at) {
  Leaves made;
  for (const Leaves& leaves : at.in) {
    for (const array& a : leaves) made.push_back(elementwise(Op::kBarrier, a));
  }
  return made;
}

Leaves tuple(const At& at) {
  Leaves made;
  for (const Leaves& leaves : at.in) made.insert(made.end(), leaves.begin(), leaves.end());
  return made;
}

Leaves element(const At& at) {
  const auto& elements = at.function.operations[at.operation.operands[0]].shape.elements;
  const auto index = static_cast<size_t>(integer_of(at.operation, "index", 0));
  size_t from = 0;
  for (size_t e = 0; e < index; ++e) from += leaf_count(elements[e]);
  const auto begin = at.in[0].begin() + static_cast<int64_t>(from);
  return {begin, begin + static_cast<int64_t>(leaf_count(elements[index]))};
}

Leaves constant_of(const At& at) { return {literal_of(at.operation)}; }
Leaves iota(const At& at) {
  return {counter(result_shape(at), result_type(at), integer_of(at.operation, "iota_dimension", 0))};
}
Leaves broadcast(const At& at) {
  // HLO's broadcast may also transpose dimensions.
  Dims dimensions = dims_of(at.operation, "dimensions"), order = all_axes(dimensions.size());
  std::ranges::sort(order, {}, [&](int64_t d) { return dimensions[lazy::at(d)]; });
  std::ranges::sort(dimensions);
  return {broadcast_in(permute(at[0], order), result_shape(at), dimensions)};
}
Leaves reshape(const At& at) { return {reshape_to(at[0], result_shape(at))}; }
Leaves transpose(const At& at) { return {permute(at[0], dims_of(at.operation, "dimensions"))}; }
Leaves reverse_all(const At& at) { return {reverse(at[0], dims_of(at.operation, "dimensions"))}; }
Leaves concatenate(const At& at) { return {join(tuple(at), dims_of(at.operation, "dimensions").at(0))}; }

Leaves slice(const At& at) {
  // {[0:2:1], [1:3]}
  Dims starts, stops, strides;
  const std::string text = word_of(at.operation, "slice");
  for (size_t from = text.find('['); from != std::string::npos; from = text.find('[', from + 1)) {
    const Dims numbers = numbers_in(text.substr(from, text.find(']', from) - from));
    starts.push_back(numbers.at(0));
    stops.push_back(numbers.at(1));
    strides.push_back(numbers.size() > 2 ? numbers[2] : 1);
  }
  return {slice_of(at[0], starts, stops, strides)};
}

Leaves pad(const At& at) {
  // 1_2_0x0_0
  Dims low, high, interior;
  const std::string text = word_of(at.operation, "padding");
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('x', from), text.size());
    const Dims numbers = numbers_in(text.substr(from, end - from));
    low.push_back(numbers.at(0));
    high.push_back(numbers.at(1));
    interior.push_back(numbers.size() > 2 ? numbers[2] : 0);
    from = end + 1;
  }
  return {pad_with(at[0], at[1], low, high, interior)};
}

Leaves call(const At& at) { return called(at.program, at.operation.functions.at(0), at.in); }

Leaves map(const At& at) { return called_on_elements(at.program, at.operation.functions.at(0), tuple(at)); }

}  // namespace

Rule rule_of(std::string_view operation) {
  static const std::unordered_map<std::string_view, Rule> kRules = [] {
    std::unordered_map<std::string_view, Rule> rules;
    for (const ElementRow& row : kElements) rules.emplace(row.name, by_row);
    for (const char* name : {"round-nearest-afz", "popcnt", "count-leading-zeros", "mulhi", "shift-right-arithmetic",
                             "shift-right-logical", "bitcast-convert", "partition-id", "replica-id"})
      rules.emplace(name, without_derivative);
    for (const char* name : {"copy", "domain", "add-dependency"}) rules.emplace(name, first_operand);
    rules["abs"] = absolute;
    rules["after-all"] = nothing;
    rules["atan"] = with_derivative<of_arc_tangent>;
    rules["bitcast"] = bitcast;
    rules["broadcast"] = broadcast;
    rules["call"] = rules["fusion"] = call;
    rules["cbrt"] = with_derivative<of_cube_root>;
    rules["clamp"] = clamp;
    rules["compare"] = compare;
    rules["concatenate"] = concatenate;
    rules["constant"] = constant_of;
    rules["convert"] = convert;
    rules["get-tuple-element"] = element;
    rules["iota"] = iota;
    rules["map"] = map;
    rules["multiply"] = product;
    rules["opt-barrier"] = barrier;
    rules["pad"] = pad;
    rules["parameter"] = nothing;  // its value is given
    rules["reduce-precision"] = reduce_precision;
    rules["reshape"] = reshape;
    rules["reverse"] = reverse_all;
    rules["select"] = select;
    rules["slice"] = slice;
    rules["transpose"] = transpose;
    rules["tuple"] = tuple;
    add_fold_rules(rules);
    add_place_rules(rules);
    add_loop_rules(rules);
    add_matrix_rules(rules);
    return rules;
  }();
  const auto found = kRules.find(operation);
  return found == kRules.end() ? nullptr : found->second;
}

}  // namespace lowtide::lazy
