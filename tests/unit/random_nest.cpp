#include "random_nest.h"

#include <algorithm>
#include <cstring>

namespace lowtide::engine {
namespace {

constexpr ElementType kTypes[] = {ElementType::kPred, ElementType::kS8,  ElementType::kU8,  ElementType::kS16,
                                  ElementType::kU16,  ElementType::kS32, ElementType::kU32, ElementType::kS64,
                                  ElementType::kU64,  ElementType::kF32, ElementType::kF64};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  RandomNest make() {
    const int pieces = below(4) == 0 ? 2 : 1;
    for (int i = 0; i < pieces; ++i) make_piece();
    RandomNest made{builder_.take(), {}};
    for (const NestBuffer& buffer : made.nest.buffers) made.buffers.push_back(contents(buffer));
    return made;
  }

 private:
  struct Open {
    int32_t loop;
    int64_t extent;
    bool parallel;
  };

  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  template <class T, size_t n>
  T any(const T (&list)[n]) {
    return list[below(static_cast<int64_t>(n))];
  }
  ElementType any_type() { return any(kTypes); }

  // Small integers, also as floats.
  std::vector<std::byte> contents(const NestBuffer& buffer) {
    std::vector<std::byte> bytes(static_cast<size_t>(buffer.elements * stored_bytes(buffer.type)));
    for (int64_t i = 0; i < buffer.elements; ++i) {
      const int64_t value = below(17) - (buffer.type == ElementType::kF32 || buffer.type == ElementType::kF64 ? 8 : 0);
      std::byte* at = bytes.data() + i * stored_bytes(buffer.type);
      if (buffer.type == ElementType::kF32) {
        const auto x = static_cast<float>(value);
        std::memcpy(at, &x, 4);
      } else if (buffer.type == ElementType::kF64) {
        const auto x = static_cast<double>(value);
        std::memcpy(at, &x, 8);
      } else {
        const int64_t x = buffer.type == ElementType::kPred ? value & 1 : value;
        std::memcpy(at, &x, static_cast<size_t>(stored_bytes(buffer.type)));
      }
    }
    return bytes;
  }

  int64_t any_extent() {
    constexpr int64_t kExtents[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 64, 65, 100, 128, 130, 200};
    return any(kExtents);
  }

  // Row-major over the open loops in a random order, some left out; a step or a reversal now and then.
  Affine any_index(int64_t& elements, bool injective) {
    std::vector<Open> order = open_;
    std::shuffle(order.begin(), order.end(), random_);
    if (below(2) == 0) order = open_;
    Affine at = NestBuilder::fixed(0);
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      const Open& loop = order[i];
      if (injective ? !loop.parallel : below(4) == 0 || stride > 200000) continue;
      const int64_t step = below(6) == 0 ? 1 + below(3) : 1;
      Affine index = builder_.times(builder_.index_of(loop.loop), step);
      if (below(8) == 0) index = builder_.plus(NestBuilder::fixed((loop.extent - 1) * step), builder_.times(index, -1));
      at = builder_.plus(at, builder_.times(index, stride));
      stride *= (loop.extent - 1) * step + 1;
    }
    const int64_t before = below(3);
    elements = stride + before + below(2);
    return builder_.plus(at, NestBuilder::fixed(before));
  }

  NodeId any_load() {
    int64_t elements = 0;
    if (below(6) == 0) {  // by a table of indices
      const Affine where = any_index(elements, false);
      const ElementType type = below(2) == 0 ? ElementType::kS32 : ElementType::kS64;
      const NodeId entry = builder_.load(builder_.add_buffer(type, elements), where);
      const int64_t rows = 1 + below(40);
      constexpr auto kIndex = ElementType::kS64;
      const NodeId low =
          builder_.operation(Opcode::kMaximum, kIndex, {builder_.convert(entry, kIndex), builder_.integer(kIndex, 0)});
      const Affine row =
          builder_.affine(builder_.operation(Opcode::kMinimum, kIndex, {low, builder_.integer(kIndex, rows - 1)}));
      int64_t columns = 0;
      const Affine column = any_index(columns, false);
      const int32_t buffer = builder_.add_buffer(any_type(), rows * columns);
      return builder_.load(buffer, builder_.plus(builder_.times(row, columns), column));
    }
    Affine at = any_index(elements, false);
    if (below(5) == 0) {  // shifted, and kept in bounds
      constexpr auto kIndex = ElementType::kS64;
      NodeId shifted = builder_.value_of(builder_.plus(at, NestBuilder::fixed(below(9) - 4)));
      shifted = builder_.operation(Opcode::kMaximum, kIndex, {shifted, builder_.integer(kIndex, 0)});
      at = builder_.affine(builder_.operation(Opcode::kMinimum, kIndex, {shifted, builder_.integer(kIndex, elements)}));
      elements += 1;
    }
    return builder_.load(builder_.add_buffer(any_type(), elements), at);
  }

  // A value that stays small, so that conversions are defined.
  NodeId as(ElementType type, NodeId value) {
    const ElementType from = builder_.node(value).type;
    if (from == type) return value;
    if (type == ElementType::kPred) {
      CompareAttributes how{.direction = CompareDirection::kGt};
      return builder_.compare(value, builder_.number(from, 3), how);
    }
    if (from == ElementType::kPred) return builder_.select(value, builder_.number(type, 2), builder_.number(type, 5));
    const bool from_float = is_floating(from), to_float = is_floating(type);
    if (from_float && !to_float) {
      const NodeId limited = builder_.operation(
          Opcode::kMaximum, from,
          {builder_.operation(Opcode::kMinimum, from, {value, builder_.number(from, 100)}), builder_.number(from, 0)});
      return as_integer(type, builder_.convert(limited, ElementType::kS32));
    }
    if (to_float && type_bits(from) < 32) value = builder_.convert(value, ElementType::kS32);
    return builder_.convert(value, type);
  }
  NodeId as_integer(ElementType type, NodeId s32) {
    return type == ElementType::kS32 ? s32 : builder_.convert(s32, type);
  }

  NodeId any_value() { return values_[below(static_cast<int64_t>(values_.size()))]; }

  NodeId any_operation() {
    using enum Opcode;
    if (below(7) == 0) {
      const NodeId a = any_value(), b = as(builder_.node(a).type, any_value());
      if (builder_.node(a).type != ElementType::kPred) {
        constexpr CompareDirection kDirections[] = {CompareDirection::kEq, CompareDirection::kNe,
                                                    CompareDirection::kGe, CompareDirection::kGt,
                                                    CompareDirection::kLe, CompareDirection::kLt};
        return builder_.compare(a, b, {.direction = any(kDirections)});
      }
    }
    const ElementType type = any_type();
    const NodeId a = as(type, any_value()), b = as(type, any_value());
    if (below(6) == 0) return builder_.select(as(ElementType::kPred, any_value()), a, b);
    if (type == ElementType::kPred) {
      constexpr Opcode kOps[] = {kAnd, kOr, kXor};
      return below(4) == 0 ? builder_.operation(kNot, type, {a}) : builder_.operation(any(kOps), type, {a, b});
    }
    if (is_floating(type)) {
      constexpr Opcode kUnary[] = {kNegate, kAbs, kFloor, kCeil, kRoundNearestEven};
      constexpr Opcode kBinary[] = {kAdd, kSubtract, kMaximum, kMinimum};
      if (below(3) == 0) return builder_.operation(any(kUnary), type, {a});
      if (below(8) == 0) return builder_.fma(a, builder_.number(type, 0.5), b);
      return builder_.operation(any(kBinary), type, {a, b});
    }
    if (below(6) == 0) {
      constexpr Opcode kShifts[] = {kShiftLeft, kShiftRightLogical, kShiftRightArithmetic};
      return builder_.operation(any(kShifts), type, {a, builder_.integer(type, below(type_bits(type)))});
    }
    if (below(6) == 0) {
      constexpr Opcode kDivisions[] = {kDivide, kRemainder};
      return builder_.operation(any(kDivisions), type, {a, builder_.integer(type, 1 + below(9))});
    }
    if (below(8) == 0 && type == ElementType::kU32) {
      const int64_t left = 1 + below(31);
      return builder_.operation(kOr, type,
                                {builder_.operation(kShiftLeft, type, {a, builder_.integer(type, left)}),
                                 builder_.operation(kShiftRightLogical, type, {a, builder_.integer(type, 32 - left)})});
    }
    constexpr Opcode kUnary[] = {kNot, kPopcnt, kCountLeadingZeros};
    constexpr Opcode kBinary[] = {kAdd, kSubtract, kMultiply, kAnd, kOr, kXor, kMaximum, kMinimum};
    if (below(6) == 0) return builder_.operation(any(kUnary), type, {a});
    return builder_.operation(any(kBinary), type, {a, b});
  }

  void make_values(int loads, int operations) {
    for (int i = 0; i < loads; ++i) values_.push_back(any_load());
    if (!open_.empty() && below(3) == 0) {
      const Open& loop = open_[below(static_cast<int64_t>(open_.size()))];
      values_.push_back(builder_.value_of(builder_.index_of(loop.loop)));
    }
    for (int i = 0; i < operations; ++i) values_.push_back(any_operation());
  }

  std::shared_ptr<const Function> combiner(Opcode opcode, ElementType type) {
    auto function = std::make_shared<Function>();
    function->argument_count = 2;
    function->nodes = {{.kind = NodeKind::kArgument, .type = type, .slot = 0},
                       {.kind = NodeKind::kArgument, .type = type, .slot = 1},
                       {.kind = NodeKind::kOperation, .opcode = opcode, .type = type}};
    function->nodes[2].operands = {0, 1};
    function->results = {2};
    return function;
  }

  void make_reduction() {
    constexpr ElementType kReduced[] = {ElementType::kS32, ElementType::kU8, ElementType::kS64, ElementType::kF32,
                                        ElementType::kF64};
    const ElementType type = any(kReduced);
    const Opcode opcode = below(2) == 0 ? Opcode::kAdd : Opcode::kMaximum;
    const NodeId neutral[] = {builder_.number(type, opcode == Opcode::kAdd ? 0 : type == ElementType::kU8 ? 0 : -1000)};
    const NodeId initial[] = {below(2) == 0 ? neutral[0] : builder_.number(type, 3)};
    const int64_t extent = any_extent();
    const int32_t loop = builder_.begin_reduce(extent, initial, combiner(opcode, type), neutral);
    const auto outer = values_;
    open_.push_back({loop, extent, false});
    make_values(2, static_cast<int>(below(4)));
    if (depth_ < 1 && below(4) == 0) {
      ++depth_;
      make_reduction();
      --depth_;
    }
    NodeId value = as(type, any_value());
    if (is_floating(type)) value = builder_.operation(Opcode::kFloor, type, {value});
    const NodeId next[] = {builder_.operation(opcode, type, {builder_.carried(loop, 0), value})};
    open_.pop_back();
    values_ = outer;
    values_.push_back(builder_.end_carrying(loop, next)[0]);
  }

  // while (i < limit) { i += 1; x = x op value; }
  void make_while() {
    constexpr auto kType = ElementType::kS32;
    const NodeId limit = builder_.operation(Opcode::kAnd, kType, {as(kType, any_value()), builder_.integer(kType, 7)});
    const NodeId initial[] = {builder_.integer(kType, 0), as(kType, any_value())};
    const int32_t loop = builder_.begin_while(initial);
    const NodeId i = builder_.carried(loop, 0), x = builder_.carried(loop, 1);
    builder_.begin_while_body(loop, builder_.compare(i, limit, {.direction = CompareDirection::kLt}));
    const auto outer = values_;
    make_values(1, 1);
    const NodeId next[] = {
        builder_.operation(Opcode::kAdd, kType, {i, builder_.integer(kType, 1)}),
        builder_.operation(Opcode::kAdd, kType,
                           {builder_.operation(Opcode::kXor, kType, {x, as(kType, any_value())}), i})};
    values_ = outer;
    values_.push_back(builder_.end_carrying(loop, next)[1]);
  }

  void make_sequence() {
    constexpr auto kType = ElementType::kS32;
    const NodeId initial[] = {as(kType, any_value())};
    const int64_t extent = 1 + below(6);
    const int32_t loop = builder_.begin_sequential(extent, initial);
    const auto outer = values_;
    open_.push_back({loop, extent, false});
    make_values(1, 2);
    const NodeId next[] = {builder_.operation(
        Opcode::kSubtract, kType,
        {as(kType, any_value()),
         builder_.operation(Opcode::kMultiply, kType, {builder_.carried(loop, 0), builder_.integer(kType, 3)})})};
    open_.pop_back();
    values_ = outer;
    values_.push_back(builder_.end_carrying(loop, next)[0]);
  }

  void make_store() {
    int64_t elements = 0;
    const ElementType type = any_type();
    const Affine at = any_index(elements, true);
    const int32_t buffer = builder_.add_buffer(type, elements);
    NodeId value = any_value();
    if (below(4) == 0)
      value = builder_.operation(
          Opcode::kXor, ElementType::kS32,
          {as(ElementType::kS32, value), as(ElementType::kS32, builder_.load(buffer, at))});  // in place
    const NodeId guard = below(5) == 0 ? as(ElementType::kPred, any_value()) : kNoId;
    builder_.store(buffer, at, as(type, value), guard);
  }

  void make_piece() {
    values_ = {builder_.number(ElementType::kF32, 2), builder_.integer(ElementType::kS32, 5)};
    open_.clear();
    const int depth = 1 + static_cast<int>(below(3));
    int64_t iterations = 1;
    for (int i = 0; i < depth; ++i) {
      int64_t extent = any_extent();
      while (extent * iterations > 20000) extent = 1 + below(8);
      iterations *= extent;
      const int32_t loop = builder_.begin_parallel(extent);
      open_.push_back({loop, extent, true});
    }
    make_values(2 + static_cast<int>(below(2)), static_cast<int>(below(8)));
    if (below(3) == 0) make_reduction();
    if (below(5) == 0) make_while();
    if (below(6) == 0) make_sequence();
    make_values(0, static_cast<int>(below(3)));
    make_store();
    if (below(4) == 0) make_store();
    while (!open_.empty()) {
      builder_.end_parallel(open_.back().loop);
      open_.pop_back();
    }
  }

  std::mt19937_64 random_;
  NestBuilder builder_;
  std::vector<Open> open_;
  std::vector<NodeId> values_;
  int depth_ = 0;
};

}  // namespace

RandomNest random_nest(uint64_t seed) { return Maker(seed).make(); }

}  // namespace lowtide::engine
