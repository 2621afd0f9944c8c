// topk: the k largest (or smallest) elements along the last dimension, and their indices.
//   operand T[.., n] -> (T[.., k], s32[.., k]), in order; equal elements by index, NaN is above all numbers.
//   (C1) the operand is an array of rank >= 1
//   (C2) 0 <= k <= n
#include "ops/topk.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "ops/checks.h"
#include "ops/dimension_roles.h"
#include "ops/extents.h"
#include "ops/numbers.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Status read_topk(AttributeReader& reader, Instruction& topk) {
  TopKAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.k, reader.take_integer("k"));
  LT_ASSIGN_OR_RETURN(attributes.largest, reader.take_bool_or("largest", true));
  topk.attributes = attributes;
  return {};
}

void print_topk(const Instruction& topk, AttributeWriter& writer) {
  writer.integer("k", topk.as<TopKAttributes>().k);
  writer.boolean("largest", topk.as<TopKAttributes>().largest);
}

Result<Shape> infer_topk(const Instruction& topk) {
  const Shape& operand = topk.operand(0).shape;
  if (!operand.is_array() || operand.rank() == 0) {  // (C1)
    return broken(topk, 1, "needs an array of rank 1 or more, got " + to_string_without_layout(operand));
  }
  const int64_t k = topk.as<TopKAttributes>().k;
  if (k < 0 || (k > operand.dims.back() && operand.dims.back() != kUnboundedDim)) {  // (C2)
    return broken(topk, 2, fmt::format("can't take {} of {} elements", k, operand.dims.back()));
  }
  Dims dims = operand.dims;
  dims.back() = k;
  return Shape::tuple({Shape::array(operand.type, dims), Shape::array(ElementType::kS32, dims)});
}

/// A key with the order of IEEE 754's totalOrder: -NaN, -inf, .., -0, +0, .., inf, NaN.
template <class T>
auto total_order_key(T element) {
  if constexpr (std::is_integral_v<T> || requires(T t) { t.held; }) {
    return widen(element);
  } else {
    const auto bits = std::bit_cast<int64_t>(static_cast<double>(element));
    return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
  }
}

Result<Value> eval_topk(const Instruction& topk, Operands operands, EvalContext&) {
  return top_k(*operands[0], topk.as<TopKAttributes>().k, topk.as<TopKAttributes>().largest);
}

std::vector<OperandDimension> roles_of_topk(const Instruction& instruction, size_t operand) {
  return batch_dimensions(instruction, operand, 1);
}

void extents_of_topk(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const size_t last = i.operand(0).shape.dims.size() - 1;
  for (size_t d = 0; d < last; ++d) r.unite(r.mine(d), r.of_operand(0, d));
  r.same_results();
  r.at_most(r.mine(last), r.of_operand(0, last));
  r.tie(ExtentTie::Slot::kTop, 0, ExtentSum(r.mine(last)));
}

}  // namespace

Result<Value> top_k(const Literal& operand, int64_t k, bool largest) {
  const Shape& shape = operand.shape();
  if (is_complex(shape.type) || shape.rank() == 0 || k < 0 || k > shape.dims.back()) {
    return Status::unsupported(fmt::format("top {} of {}", k, to_string_without_layout(shape)));
  }
  const int64_t extent = shape.dims.back();
  Dims dims = shape.dims;
  dims.back() = k;
  auto values = std::make_shared<Literal>(Shape::array(shape.type, dims));
  auto indices = std::make_shared<Literal>(Shape::array(ElementType::kS32, dims));
  dispatch(shape.type, [&]<class T>() {
    if constexpr (!is_complex_v<T>) {
      std::vector<int64_t> order(static_cast<size_t>(extent));
      for (int64_t line = 0; extent > 0 && line < operand.size() / extent; ++line) {
        const auto from = operand.data<T>().subspan(static_cast<size_t>(line * extent), order.size());
        std::iota(order.begin(), order.end(), int64_t{0});
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          const auto x = total_order_key(from[a]);
          const auto y = total_order_key(from[b]);
          if (x == y) return a < b;
          return largest ? x > y : x < y;
        });
        for (int64_t i = 0; i < k; ++i) {
          const auto to = static_cast<size_t>(line * k + i);
          values->data<T>()[to] = from[order[i]];
          indices->data<int32_t>()[to] = static_cast<int32_t>(order[i]);
        }
      }
    }
  });
  return Value(std::make_shared<Literal>(std::vector<Value>{values, indices}));
}

const OpRule kTopKRule{.read = read_topk,
                       .print = print_topk,
                       .infer = infer_topk,
                       .eval = eval_topk,
                       .split = split_by_element,
                       .slicing = sliced_in_step(roles_of_topk),
                       .extents = extents_of_topk,
                       .reads = reads_anywhere,
                       .arithmetic = kOneOperation};

}  // namespace lowtide::engine
