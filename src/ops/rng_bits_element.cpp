#include "ops/element_rules.h"
#include "ops/inlined.h"

namespace lowtide::engine {
namespace {

constexpr ElementType kWord = ElementType::kU32, kLong = ElementType::kU64;

/// Arithmetic on words as nodes; ops/counter_bits.cpp has the same on numbers.
class Words {
 public:
  explicit Words(NestBuilder& nest) : nest_(nest) {}
  NodeId word(uint32_t value) { return nest_.integer(kWord, static_cast<int64_t>(value)); }
  NodeId number(uint64_t value) { return nest_.integer(kLong, static_cast<int64_t>(value)); }
  NodeId apply(Opcode opcode, NodeId a, NodeId b) { return nest_.operation(opcode, nest_.node(a).type, {a, b}); }
  NodeId add(NodeId a, NodeId b) { return apply(Opcode::kAdd, a, b); }
  NodeId exclusive_or(NodeId a, NodeId b) { return apply(Opcode::kXor, a, b); }
  NodeId low(NodeId number) { return nest_.convert(number, kWord); }
  NodeId high(NodeId number_) { return nest_.convert(apply(Opcode::kShiftRightLogical, number_, number(32)), kWord); }
  NodeId joined(NodeId low_word, NodeId high_word) {
    const NodeId shifted = apply(Opcode::kShiftLeft, nest_.convert(high_word, kLong), number(32));
    return apply(Opcode::kOr, nest_.convert(low_word, kLong), shifted);
  }
  NodeId rotated(NodeId a, uint32_t by) {
    return apply(Opcode::kOr, apply(Opcode::kShiftLeft, a, word(by)),
                 apply(Opcode::kShiftRightLogical, a, word(32 - by)));
  }

  std::array<NodeId, 2> threefry(NodeId key, NodeId counter) {
    constexpr uint32_t kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const NodeId first = low(key), second = high(key);
    const NodeId schedule[3] = {first, second, exclusive_or(exclusive_or(first, second), word(0x1BD11BDA))};
    NodeId a = add(low(counter), schedule[0]), b = add(high(counter), schedule[1]);
    for (uint32_t group = 0; group < 5; ++group) {
      for (const uint32_t rotation : kRotations[group % 2]) {
        a = add(a, b);
        b = exclusive_or(rotated(b, rotation), a);
      }
      a = add(a, schedule[(group + 1) % 3]);
      b = add(add(b, schedule[(group + 2) % 3]), word(group + 1));
    }
    return {a, b};
  }

  std::array<NodeId, 4> philox(NodeId key, NodeId counter_low, NodeId counter_high) {
    std::array<NodeId, 4> counter{low(counter_low), high(counter_low), low(counter_high), high(counter_high)};
    NodeId first_key = low(key), second_key = high(key);
    for (int round = 0; round < 10; ++round) {
      const NodeId first = apply(Opcode::kMultiply, nest_.convert(counter[0], kLong), number(0xD2511F53u));
      const NodeId second = apply(Opcode::kMultiply, nest_.convert(counter[2], kLong), number(0xCD9E8D57u));
      counter = {exclusive_or(exclusive_or(high(second), counter[1]), first_key), low(second),
                 exclusive_or(exclusive_or(high(first), counter[3]), second_key), low(first)};
      first_key = add(first_key, word(0x9E3779B9u));
      second_key = add(second_key, word(0xBB67AE85u));
    }
    return counter;
  }

 private:
  NestBuilder& nest_;
};

/// The state's numbers: a key, then a counter of two words.
struct StateNodes {
  NodeId key = kNoId, low = kNoId, high = kNoId;
};

int64_t state_words(const Instruction& rng) {
  const Shape& state = rng.operand(0).shape;
  return element_count(state) * (state.type == kLong ? 2 : 1);
}

StateNodes state_of(ElementContext& context, const Instruction& rng) {
  Words words(context.nest);
  const Instruction& state = rng.operand(0);
  const auto element = [&](int64_t i) {
    return context.element(state, context.nest.index_at(NestBuilder::fixed(i), state.shape.dims));
  };
  const auto number = [&](int64_t i) {
    return state.shape.type == kLong ? element(i) : words.joined(element(2 * i), element(2 * i + 1));
  };
  return {number(0), number(1), number(state_words(rng) == 6 ? 2 : 0)};
}

bool is_threefry(const Instruction& rng) {
  return rng.as<RngBitGeneratorAttributes>().algorithm == RngAlgorithm::kThreeFry;
}

/// The two words of each pair are neighbours along one dimension: the first one of even extent, else the largest.
struct Halves {
  size_t split = 0;
  int64_t outer = 1, extent = 1, half = 1, inner = 1;
  explicit Halves(const Dims& extents) {
    for (size_t d = extents.size(); d-- > 0;) {
      if (extents[d] >= extents[split]) split = d;
    }
    for (size_t d = extents.size(); d-- > 0;) {
      if (extents[d] % 2 == 0) split = d;
    }
    for (size_t d = 0; d < split; ++d) outer *= extents[d];
    for (size_t d = split + 1; d < extents.size(); ++d) inner *= extents[d];
    if (!extents.empty()) extent = extents[split];
    half = (extent + 1) / 2;
  }
  int64_t pairs() const { return outer * half * inner; }
};

/// By how much the counter advances for the whole result.
int64_t counted(const Instruction& rng, const Shape& bits) {
  const int64_t count = element_count(bits);
  const bool wide = stored_bytes(bits.type) == 8;
  if (is_threefry(rng)) return wide ? count : Halves(bits.dims).pairs();
  return (count * (wide ? 2 : 1) + 3) / 4;
}

NodeId counter_at(NestBuilder& nest, NodeId start, const Affine& offset) {
  return nest.operation(Opcode::kAdd, kLong, {start, nest.convert(nest.value_of(offset), kLong)});
}

NodeId carry_into(NestBuilder& nest, NodeId high, NodeId sum, NodeId start) {
  const NodeId wrapped = nest.compare(sum, start, {CompareDirection::kLt, CompareType::kUnsigned});
  return nest.operation(Opcode::kAdd, kLong, {high, nest.convert(wrapped, kLong)});
}

/// words[which] for a computed index.
NodeId pick_word(NestBuilder& nest, std::span<const NodeId> words, const Affine& which) {
  NodeId picked = words.back();
  for (size_t k = words.size() - 1; k-- > 0;) {
    picked = nest.select(nest.within(which, static_cast<int64_t>(k), static_cast<int64_t>(k)), words[k], picked);
  }
  return picked;
}

/// The bits of an element as an unsigned integer of its width.
NodeId bits_at(ElementContext& context, const Instruction& rng, const Shape& bits, const Index& index) {
  NestBuilder& nest = context.nest;
  Words words(nest);
  const StateNodes state = state_of(context, rng);
  const bool wide = stored_bytes(bits.type) == 8;
  const Affine flat = nest.position(index, bits.dims);
  if (is_threefry(rng)) {
    if (wide) {
      const auto pair = words.threefry(state.key, counter_at(nest, state.low, flat));
      return words.joined(pair[0], pair[1]);
    }
    const Halves halves(bits.dims);
    Index outer, inner;
    Dims outer_extents, inner_extents;
    for (size_t d = 0; d < index.size(); ++d) {
      if (d == halves.split) continue;
      (d < halves.split ? outer : inner).push_back(index[d]);
      (d < halves.split ? outer_extents : inner_extents).push_back(bits.dims[d]);
    }
    const Affine at = index.empty() ? NestBuilder::fixed(0) : index[halves.split];
    const Affine row =
        nest.plus(nest.times(nest.position(outer, outer_extents), halves.half), nest.floor_divide(at, 2));
    const Affine hash = nest.plus(nest.times(row, halves.inner), nest.position(inner, inner_extents));
    return pick_word(nest, words.threefry(state.key, counter_at(nest, state.low, hash)), nest.remainder(at, 2));
  }
  const int64_t per_block = wide ? 2 : 4;
  const NodeId low = counter_at(nest, state.low, nest.floor_divide(flat, per_block));
  const auto four = words.philox(state.key, low, carry_into(nest, state.high, low, state.low));
  const Affine which = nest.remainder(flat, per_block);
  if (!wide) return pick_word(nest, four, which);
  const NodeId pairs[] = {words.joined(four[0], four[1]), words.joined(four[2], four[3])};
  return pick_word(nest, pairs, which);
}

ElementType unsigned_of(ElementType type) {
  switch (stored_bytes(type)) {
    case 1: return ElementType::kU8;
    case 2: return ElementType::kU16;
    case 4: return ElementType::kU32;
    default: return ElementType::kU64;
  }
}

}  // namespace

bool has_element_rng_bit_generator(const Instruction& rng) {
  const int64_t words = state_words(rng);
  return is_threefry(rng) ? words == 4 : words == 4 || words == 6;
}

void element_rng_bit_generator(ElementContext& context, const Instruction& rng, int64_t leaf, const Index& index,
                               std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Shape& bits = rng.shape.is_tuple() ? rng.shape.elements[1] : rng.shape;
  if (leaf == part_count(rng.shape) - 1) {
    NodeId made = nest.convert(bits_at(context, rng, bits, index), unsigned_of(bits.type));
    made = is_floating(bits.type) ? nest.operation(Opcode::kBitcastConvert, bits.type, {made})
                                  : nest.convert(made, bits.type);
    leaves[leaf] = made;
    return;
  }
  Words words(nest);
  StateNodes state = state_of(context, rng);
  const NodeId low = counter_at(nest, state.low, NestBuilder::fixed(counted(rng, bits)));
  if (!is_threefry(rng)) state.high = carry_into(nest, state.high, low, state.low);
  const Instruction& given = rng.operand(0);
  std::vector<NodeId> after;
  for (const NodeId number : {state.key, low, state.high}) {
    if (given.shape.type == kLong) {
      after.push_back(number);
    } else {
      after.insert(after.end(), {words.low(number), words.high(number)});
    }
  }
  after.resize(static_cast<size_t>(element_count(given.shape)));
  leaves[0] = pick_word(nest, after, nest.position(index, given.shape.dims));
}

}  // namespace lowtide::engine
