#include "plain_lanes.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/small_types.h"

namespace lowtide::engine {
namespace {

constexpr int kLanes = 512;

/// One value per lane, whatever its type.
struct Row {
  alignas(64) std::byte bytes[kLanes * 8];
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes);
  }
};

template <class F>
decltype(auto) with_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kPred: return f.template operator()<bool>();
    case ElementType::kS8: return f.template operator()<int8_t>();
    case ElementType::kS16: return f.template operator()<int16_t>();
    case ElementType::kS32: return f.template operator()<int32_t>();
    case ElementType::kS64: return f.template operator()<int64_t>();
    case ElementType::kU8: return f.template operator()<uint8_t>();
    case ElementType::kU16: return f.template operator()<uint16_t>();
    case ElementType::kU32: return f.template operator()<uint32_t>();
    case ElementType::kU64: return f.template operator()<uint64_t>();
    case ElementType::kF16: return f.template operator()<Float16>();
    case ElementType::kF32: return f.template operator()<float>();
    case ElementType::kF64: return f.template operator()<double>();
    default: LT_ASSERT(false, "no plain type"); __builtin_unreachable();
  }
}

/// A float as an integer; anything where it is out of range.
template <class To, class From>
To cut(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const bool in_range = x > static_cast<From>(std::numeric_limits<To>::min()) - 1 &&
                          x < std::ldexp(From(1), std::numeric_limits<To>::digits);
    return in_range ? static_cast<To>(x) : static_cast<To>(0x5a5a5a5a);
  } else if constexpr (std::is_same_v<From, Float16>) {
    return static_cast<To>(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

class Lanes {
 public:
  Lanes(const Nest& nest, const std::vector<void*>& buffers)
      : nest_(nest), buffers_(buffers), rows_(nest.nodes.size()), carried_(nest.loops.size()) {
    for (size_t i = 0; i < nest.nodes.size(); ++i) {
      if (nest.nodes[i].kind != NodeKind::kConstant) continue;
      with_type(nest.nodes[i].type, [&]<class T>() {
        T value;
        std::memcpy(static_cast<void*>(&value), nest.nodes[i].bits.data(), sizeof(T));
        std::fill_n(rows_[i].as<T>(), kLanes, value);
      });
    }
  }

  void run() {
    for (const Item& item : nest_.blocks[0].items) {
      if (item.kind == Item::kNode) evaluate(item.id);
      if (item.kind != Item::kLoop) continue;
      const Loop& loop = nest_.loops[item.id];
      if (loop.kind == LoopKind::kWhile) {
        run_while(item.id);
        continue;
      }
      LT_ASSERT(loop.kind == LoopKind::kParallel, "one parallel loop was expected");
      for (int64_t first = 0; first < loop.extent; first += kLanes) {
        count_ = static_cast<int>(std::min<int64_t>(kLanes, loop.extent - first));
        for (int i = 0; i < kLanes; ++i) row(loop.index).as<int64_t>()[i] = first + std::min(i, count_ - 1);
        run_block(loop.body);
      }
    }
  }

 private:
  Row& row(NodeId id) { return rows_[id]; }
  const Node& node(NodeId id) const { return nest_.nodes[id]; }

  void run_block(int32_t block) {
    for (const Item& item : nest_.blocks[block].items) {
      switch (item.kind) {
        case Item::kNode: evaluate(item.id); break;
        case Item::kStore: store(nest_.stores[item.id]); break;
        case Item::kLoop: run_while(item.id); break;
      }
    }
  }

  void run_while(int32_t id) {
    const Loop& loop = nest_.loops[id];
    LT_ASSERT(loop.kind == LoopKind::kWhile, "a while was expected");
    std::vector<Row>& now = carried_[id];
    now.resize(loop.carried.size());
    for (size_t k = 0; k < now.size(); ++k) now[k] = row(loop.carried[k].initial);
    bool active[kLanes];
    std::fill_n(active, kLanes, true);
    for (bool any = true; any;) {
      for (size_t i = 0; i < nest_.nodes.size(); ++i) {
        const Node& from = nest_.nodes[i];
        if (from.kind == NodeKind::kCarried && from.loop == id) rows_[i] = now[from.slot];
      }
      run_block(loop.head);
      any = false;
      for (int i = 0; i < kLanes; ++i) {
        active[i] = active[i] && row(loop.condition).as<bool>()[i];
        any |= active[i];
      }
      if (!any) break;
      run_block(loop.body);
      for (size_t k = 0; k < now.size(); ++k) {
        with_type(loop.carried[k].type, [&]<class T>() {
          const T* next = row(loop.carried[k].next).as<T>();
          for (int i = 0; i < kLanes; ++i) {
            if (active[i]) now[k].as<T>()[i] = next[i];
          }
        });
      }
    }
    for (size_t i = 0; i < nest_.nodes.size(); ++i) {
      const Node& from = nest_.nodes[i];
      if (from.kind == NodeKind::kResult && from.loop == id) rows_[i] = now[from.slot];
    }
  }

  int64_t index(const Affine& affine, int lane) {
    int64_t sum = affine.constant;
    for (const auto& term : affine.terms) sum += term.coefficient * row(term.atom).as<int64_t>()[lane];
    return sum;
  }

  void store(const Store& store) {
    with_type(node(store.value).type, [&]<class T>() {
      auto* to = static_cast<T*>(buffers_[store.buffer]);
      for (int i = 0; i < count_; ++i) {
        if (store.guard != kNoId && !row(store.guard).as<bool>()[i]) continue;
        to[index(store.index, i)] = row(store.value).as<T>()[i];
      }
    });
  }

  void evaluate(NodeId id) {
    const Node& made = node(id);
    switch (made.kind) {
      case NodeKind::kAffine:
        for (int i = 0; i < kLanes; ++i) row(id).as<int64_t>()[i] = index(made.affine, i);
        return;
      case NodeKind::kLoad:
        with_type(made.type, [&]<class T>() {
          const auto* from = static_cast<const T*>(buffers_[made.buffer]);
          for (int i = 0; i < kLanes; ++i) row(id).as<T>()[i] = from[index(made.affine, i)];
        });
        return;
      case NodeKind::kFma:
        if (made.type == ElementType::kF32) return fma<float>(id);
        return fma<double>(id);
      case NodeKind::kOperation: return operate(id);
      default: return;
    }
  }

  template <class T>
  void fma(NodeId id) {
    const T *a = row(node(id).operands[0]).as<T>(), *b = row(node(id).operands[1]).as<T>(),
            *c = row(node(id).operands[2]).as<T>();
    T* to = row(id).as<T>();
    for (int i = 0; i < kLanes; ++i) to[i] = std::fma(a[i], b[i], c[i]);
  }

  void operate(NodeId id) {
    const Node& made = node(id);
    const ElementType from = node(made.operands[0]).type;
    switch (made.opcode) {
      case Opcode::kBitcastConvert: row(id) = row(made.operands[0]); return;
      case Opcode::kConvert:
        with_type(from, [&]<class A>() {
          with_type(made.type, [&]<class T>() {
            const A* x = row(made.operands[0]).as<A>();
            T* to = row(id).as<T>();
            if constexpr (std::is_constructible_v<T, float> || !std::is_same_v<A, Float16>) {
              for (int i = 0; i < kLanes; ++i) to[i] = cut<T>(x[i]);
            }
          });
        });
        return;
      case Opcode::kSelect:
        with_type(made.type, [&]<class T>() {
          const bool* p = row(made.operands[0]).as<bool>();
          const T *x = row(made.operands[1]).as<T>(), *y = row(made.operands[2]).as<T>();
          T* to = row(id).as<T>();
          for (int i = 0; i < kLanes; ++i) to[i] = p[i] ? x[i] : y[i];
        });
        return;
      default: break;
    }
    with_type(from, [&]<class T>() {
      if constexpr (std::is_same_v<T, Float16>) {
        LT_ASSERT(false, "f16 is only converted");
      } else {
        arithmetic<T>(id);
      }
    });
  }

  template <class T>
  void arithmetic(NodeId id) {
    const Node& made = node(id);
    const T* a = row(made.operands[0]).as<T>();
    const T* b = made.operands.size() > 1 ? row(made.operands[1]).as<T>() : a;
    const auto each = [&](auto f) {
      T* to = row(id).as<T>();
      for (int i = 0; i < kLanes; ++i) to[i] = static_cast<T>(f(a[i], b[i]));
    };
    if (made.opcode == Opcode::kCompare) {
      bool* to = row(id).as<bool>();
      for (int i = 0; i < kLanes; ++i) {
        switch (made.compare.direction) {
          case CompareDirection::kEq: to[i] = a[i] == b[i]; break;
          case CompareDirection::kNe: to[i] = a[i] != b[i]; break;
          case CompareDirection::kGe: to[i] = a[i] >= b[i]; break;
          case CompareDirection::kGt: to[i] = a[i] > b[i]; break;
          case CompareDirection::kLe: to[i] = a[i] <= b[i]; break;
          case CompareDirection::kLt: to[i] = a[i] < b[i]; break;
        }
      }
      return;
    }
    if constexpr (std::is_floating_point_v<T>) {
      switch (made.opcode) {
        case Opcode::kAdd: return each([](T x, T y) { return x + y; });
        case Opcode::kSubtract: return each([](T x, T y) { return x - y; });
        case Opcode::kMultiply: return each([](T x, T y) { return x * y; });
        case Opcode::kDivide: return each([](T x, T y) { return x / y; });
        case Opcode::kSqrt: return each([](T x, T) { return std::sqrt(x); });
        case Opcode::kNegate: return each([](T x, T) { return -x; });
        case Opcode::kAbs: return each([](T x, T) { return std::fabs(x); });
        case Opcode::kFloor: return each([](T x, T) { return std::floor(x); });
        case Opcode::kCeil: return each([](T x, T) { return std::ceil(x); });
        case Opcode::kRoundNearestEven: return each([](T x, T) { return std::nearbyint(x); });
        case Opcode::kMaximum:
          return each([](T x, T y) {
            return x != x ? x : y != y ? y : x == y ? (std::signbit(x) ? y : x) : x < y ? y : x;
          });
        case Opcode::kMinimum:
          return each([](T x, T y) {
            return x != x ? x : y != y ? y : x == y ? (std::signbit(x) ? x : y) : x < y ? x : y;
          });
        default: break;
      }
    } else if constexpr (std::is_same_v<T, bool>) {
      switch (made.opcode) {
        case Opcode::kAnd: return each([](T x, T y) { return x && y; });
        case Opcode::kOr: return each([](T x, T y) { return x || y; });
        case Opcode::kXor: return each([](T x, T y) { return x != y; });
        case Opcode::kNot: return each([](T x, T) { return !x; });
        default: break;
      }
    } else {
      using U = std::make_unsigned_t<T>;
      using S = std::make_signed_t<T>;
      constexpr int kWidth = sizeof(T) * 8;
      const auto in_range = [](T count) { return static_cast<U>(count) < kWidth; };
      switch (made.opcode) {
        case Opcode::kAdd: return each([](T x, T y) { return static_cast<uint64_t>(x) + static_cast<uint64_t>(y); });
        case Opcode::kSubtract:
          return each([](T x, T y) { return static_cast<uint64_t>(x) - static_cast<uint64_t>(y); });
        case Opcode::kMultiply:
          return each([](T x, T y) { return static_cast<uint64_t>(x) * static_cast<uint64_t>(y); });
        case Opcode::kDivide: return each([](T x, T y) { return x / y; });
        case Opcode::kRemainder: return each([](T x, T y) { return x % y; });
        case Opcode::kAnd: return each([](T x, T y) { return x & y; });
        case Opcode::kOr: return each([](T x, T y) { return x | y; });
        case Opcode::kXor: return each([](T x, T y) { return x ^ y; });
        case Opcode::kNot: return each([](T x, T) { return ~x; });
        case Opcode::kMaximum: return each([](T x, T y) { return std::max(x, y); });
        case Opcode::kMinimum: return each([](T x, T y) { return std::min(x, y); });
        case Opcode::kPopcnt: return each([](T x, T) { return std::popcount(static_cast<U>(x)); });
        case Opcode::kCountLeadingZeros: return each([](T x, T) { return std::countl_zero(static_cast<U>(x)); });
        case Opcode::kShiftLeft:
          return each([&](T x, T y) { return in_range(y) ? static_cast<uint64_t>(x) << y : 0x5a; });
        case Opcode::kShiftRightLogical:
          return each([&](T x, T y) { return in_range(y) ? static_cast<U>(x) >> y : U(0x5a); });
        case Opcode::kShiftRightArithmetic:
          return each([&](T x, T y) { return in_range(y) ? static_cast<S>(x) >> y : S(0x5a); });
        default: break;
      }
    }
    LT_ASSERT(false, std::string(opcode_name(made.opcode)) + " is not plain");
  }

  const Nest& nest_;
  const std::vector<void*>& buffers_;
  std::vector<Row> rows_;                  // per node
  std::vector<std::vector<Row>> carried_;  // per loop
  int count_ = kLanes;
};

}  // namespace

void run_in_lanes(const Nest& nest, const std::vector<void*>& buffers) { Lanes(nest, buffers).run(); }

}  // namespace lowtide::engine
