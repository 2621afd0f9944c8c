// Operations of EnzymeXLA, Reactant's dialect, for rolls and halos along one dimension:
//   rotate(x, k)                   element i is x[(i + k) mod n]
//   wrap(x, l, r)                  the last l elements of x, x, and its first r elements
//   extend(x, l, r)                the first l elements of x, x, and its last r elements
//   multi_rotate(x, left, right)   rotate by left, left - 1, ..., -right
//   multi_slice(x, amount)         a slice, and the same slice shifted by 1, 2, ..., amount; with the older attributes
//                                  left_amount and right_amount, shifted by -left_amount, ..., right_amount
//   update_without_corners(x, y)   y, except for the corners of a plane, which are x
#include <fmt/format.h>

#include <array>

#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;

/// Builds one operation of this dialect: reads its attributes, and takes slices along its dimension.
class Halo {
 public:
  Halo(ModuleMaker& maker, Scope& scope, const MlirOperation& operation)
      : maker_(maker), scope_(scope), operation_(operation) {}

  Status read(size_t count) {
    LT_ASSIGN_OR_RETURN(operands_, maker_.operands(scope_, operation_));
    if (operands_.size() == count && !operation_.types.empty() && x().shape.is_array()) return {};
    return maker_.fault(operation_.place, fmt::format("{}: expected {} array{} and results", operation_.name, count,
                                                      count == 1 ? "" : "s"));
  }

  Result<int64_t> integer(std::string_view key) {
    const auto found = maker_.values().find(operation_.attributes, key);
    if (!found) return fault(fmt::format("expected '{}'", key));
    return maker_.values().integer(*found);
  }
  /// The dimension in this attribute.
  Result<size_t> dimension(std::string_view key = "dimension") {
    LT_ASSIGN_OR_RETURN(const int64_t d, integer(key));
    if (d < 0 || d >= x().shape.rank()) return fault(fmt::format("'{}' is no dimension of the array", key));
    return static_cast<size_t>(d);
  }
  /// The number of elements in this attribute, at most n.
  Result<int64_t> part(std::string_view key, int64_t n) {
    LT_ASSIGN_OR_RETURN(const int64_t some, integer(key));
    if (some < 0 || some > n) return fault(fmt::format("'{}' must be in 0..{}", key, n));
    return some;
  }

  Result<Instruction*> slice(const Dims& starts, const Dims& limits, const Dims& strides) {
    Shape shape = Shape::array(x().shape.type, {});
    std::string text;
    for (size_t d = 0; d < starts.size(); ++d) {
      const int64_t length = std::max<int64_t>(limits[d] - starts[d], 0);
      shape.dims.push_back((length + strides[d] - 1) / strides[d]);
      text += fmt::format("{}[{}:{}:{}]", d > 0 ? ", " : "", starts[d], limits[d], strides[d]);
    }
    return add(Opcode::kSlice, std::move(shape), {operands_[0]}, {{"slice", '{' + text + '}'}});
  }
  /// x[begin:end] along the dimension.
  Result<Instruction*> piece(size_t d, int64_t begin, int64_t end) {
    Dims starts(x().shape.dims.size(), 0), limits = x().shape.dims;
    starts[d] = begin;
    limits[d] = end;
    return slice(starts, limits, Dims(starts.size(), 1));
  }
  Result<Instruction*> joined(size_t d, const Instructions& pieces) {
    Shape shape = Shape::array(x().shape.type, x().shape.dims);
    shape.dims[d] = 0;
    for (const Instruction* piece : pieces) shape.dims[d] += piece->shape.dims[d];
    return add(Opcode::kConcatenate, std::move(shape), pieces,
               {{"dimensions", braced_dims({static_cast<int64_t>(d)})}});
  }
  Result<Instruction*> rotated(size_t d, int64_t amount) {
    const int64_t n = x().shape.dims[d];
    const int64_t k = n == 0 ? 0 : (amount % n + n) % n;
    if (k == 0) return operands_[0];
    LT_ASSIGN_OR_RETURN(Instruction * first, piece(d, k, n));
    LT_ASSIGN_OR_RETURN(Instruction * second, piece(d, 0, k));
    return joined(d, {first, second});
  }

  Result<Instruction*> add(Opcode opcode, Shape shape, Instructions operands, std::vector<HloAttribute> attributes) {
    return maker_.add(scope_, operation_, opcode, std::move(shape), std::move(operands), std::move(attributes));
  }
  Status bind(const Instructions& results) {
    if (results.size() != operation_.types.size()) {
      return fault(fmt::format("found {} results, expected {}", operation_.types.size(), results.size()));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (!same_shape(results[i]->shape, operation_.types[i])) return fault("the result's type has other extents");
    }
    maker_.bind_each(scope_, operation_, results);
    return {};
  }
  Status fault(std::string_view message) {
    return maker_.fault(operation_.place, fmt::format("{}: {}", operation_.name, message));
  }

  const Instruction& x() const { return *operands_[0]; }
  const Instructions& operands() const { return operands_; }
  ModuleMaker& maker() { return maker_; }
  const MlirOperation& operation() const { return operation_; }

 private:
  ModuleMaker& maker_;
  Scope& scope_;
  const MlirOperation& operation_;
  Instructions operands_;
};

Status make_rotate(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  Halo halo(maker, scope, operation);
  LT_RETURN_IF_ERROR(halo.read(1));
  LT_ASSIGN_OR_RETURN(const size_t d, halo.dimension());
  LT_ASSIGN_OR_RETURN(const int64_t amount, halo.integer("amount"));
  LT_ASSIGN_OR_RETURN(Instruction * result, halo.rotated(d, amount));
  return halo.bind({result});
}

Status make_multi_rotate(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  Halo halo(maker, scope, operation);
  LT_RETURN_IF_ERROR(halo.read(1));
  LT_ASSIGN_OR_RETURN(const size_t d, halo.dimension());
  LT_ASSIGN_OR_RETURN(const int64_t left, halo.integer("left_amount"));
  LT_ASSIGN_OR_RETURN(const int64_t right, halo.integer("right_amount"));
  if (left + right + 1 != static_cast<int64_t>(operation.types.size())) {
    return halo.fault(fmt::format("found {} results, expected {}", operation.types.size(), left + right + 1));
  }
  Instructions results;
  for (int64_t amount = left; amount >= -right; --amount) {
    LT_ASSIGN_OR_RETURN(results.emplace_back(), halo.rotated(d, amount));
  }
  return halo.bind(results);
}

/// wrap and extend.
Status make_between(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  Halo halo(maker, scope, operation);
  LT_RETURN_IF_ERROR(halo.read(1));
  LT_ASSIGN_OR_RETURN(const size_t d, halo.dimension());
  const int64_t n = halo.x().shape.dims[d];
  LT_ASSIGN_OR_RETURN(const int64_t left, halo.part("lhs", n));
  LT_ASSIGN_OR_RETURN(const int64_t right, halo.part("rhs", n));
  const bool wraps = operation.name.ends_with("wrap");
  Instructions pieces;
  if (left > 0) {
    LT_ASSIGN_OR_RETURN(pieces.emplace_back(), wraps ? halo.piece(d, n - left, n) : halo.piece(d, 0, left));
  }
  pieces.push_back(halo.operands()[0]);
  if (right > 0) {
    LT_ASSIGN_OR_RETURN(pieces.emplace_back(), wraps ? halo.piece(d, 0, right) : halo.piece(d, n - right, n));
  }
  LT_ASSIGN_OR_RETURN(Instruction * result, halo.joined(d, pieces));
  return halo.bind({result});
}

Status make_multi_slice(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  Halo halo(maker, scope, operation);
  LT_RETURN_IF_ERROR(halo.read(1));
  LT_ASSIGN_OR_RETURN(const size_t d, halo.dimension());
  const bool both_ways = maker.values().find(operation.attributes, "left_amount").has_value();  // until 2025
  int64_t left = 0;
  if (both_ways) {
    LT_ASSIGN_OR_RETURN(left, halo.integer("left_amount"));
  }
  LT_ASSIGN_OR_RETURN(int64_t amount, halo.integer(both_ways ? "right_amount" : "amount"));
  amount += left;
  std::array<Dims, 3> box;
  constexpr std::array<std::string_view, 3> kKeys = {"start_indices", "limit_indices", "strides"};
  for (size_t k = 0; k < box.size(); ++k) {
    const auto found = maker.values().find(operation.attributes, kKeys[k]);
    if (!found) return halo.fault(fmt::format("expected '{}'", kKeys[k]));
    LT_ASSIGN_OR_RETURN(box[k], maker.values().integers(*found));
    if (box[k].size() != halo.x().shape.dims.size()) return halo.fault("expected one number for each dimension");
  }
  if (std::ranges::any_of(box[2], [](int64_t stride) { return stride < 1; })) return halo.fault("a stride is below 1");
  if (amount + 1 != static_cast<int64_t>(operation.types.size())) {
    return halo.fault(fmt::format("found {} results, expected {}", operation.types.size(), amount + 1));
  }
  box[0][d] -= left;
  box[1][d] -= left;
  Instructions results;
  for (int64_t i = 0; i <= amount; ++i, ++box[0][d], ++box[1][d]) {
    LT_ASSIGN_OR_RETURN(results.emplace_back(), halo.slice(box[0], box[1], box[2]));
  }
  return halo.bind(results);
}

/// The corners are the places at which both dimensions have their first or last elements.
Status make_update_without_corners(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  Halo halo(maker, scope, operation);
  LT_RETURN_IF_ERROR(halo.read(2));
  const Shape places = Shape::array(ElementType::kS32, halo.x().shape.dims);
  const Shape truths = Shape::array(ElementType::kPred, places.dims);
  Instruction* corner = nullptr;
  constexpr std::array<std::array<std::string_view, 3>, 2> kKeys = {
      {{"dimensionX", "x1", "x2"}, {"dimensionY", "y1", "y2"}}};
  for (const auto& [dimension, first, last] : kKeys) {
    LT_ASSIGN_OR_RETURN(const size_t d, halo.dimension(dimension));
    const int64_t n = places.dims[d];
    LT_ASSIGN_OR_RETURN(const int64_t below, halo.part(first, n));
    LT_ASSIGN_OR_RETURN(const int64_t after, halo.part(last, n));
    LT_ASSIGN_OR_RETURN(Instruction * at, halo.add(Opcode::kIota, places, {}, {{"iota_dimension", std::to_string(d)}}));
    Instruction* side = nullptr;
    for (const auto& [direction, limit] : {std::pair{"LT", below}, std::pair{"GE", n - after}}) {
      Literal number(Shape::scalar(ElementType::kS32));
      number.data<int32_t>()[0] = static_cast<int32_t>(limit);
      LT_ASSIGN_OR_RETURN(Instruction * bound,
                          maker.add_constant(scope, operation, std::make_shared<const Literal>(std::move(number))));
      LT_ASSIGN_OR_RETURN(bound, maker.broadcast(scope, operation, bound, places.dims, {}));
      LT_ASSIGN_OR_RETURN(Instruction * there,
                          halo.add(Opcode::kCompare, truths, {at, bound}, {{"direction", direction}}));
      if (side) {
        LT_ASSIGN_OR_RETURN(there, halo.add(Opcode::kOr, truths, {side, there}, {}));
      }
      side = there;
    }
    if (corner) {
      LT_ASSIGN_OR_RETURN(side, halo.add(Opcode::kAnd, truths, {corner, side}, {}));
    }
    corner = side;
  }
  LT_ASSIGN_OR_RETURN(Instruction * result,
                      halo.add(Opcode::kSelect, halo.x().shape, {corner, halo.operands()[0], halo.operands()[1]}, {}));
  return halo.bind({result});
}

}  // namespace

MakeOperation halo_operation(std::string_view name) {
  if (name == "rotate") return make_rotate;
  if (name == "multi_rotate") return make_multi_rotate;
  if (name == "wrap" || name == "extend") return make_between;
  if (name == "multi_slice") return make_multi_slice;
  if (name == "update_without_corners") return make_update_without_corners;
  return nullptr;
}

}  // namespace lowtide::engine
