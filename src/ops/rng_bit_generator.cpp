// rng-bit-generator: bits from a counter-based generator whose state, a key and then a counter, is in the program.
//   state u64[3] or u64[2] (Philox, the default), u64[2] (ThreeFry), or the same as u32 words -> (next state, T[s]);
//   an older form gives only T[s]. Each element narrower than 32 bits is the low bits of one word. The bits are XLA's.
//   (C1) the state is an array of u32 or u64
//   (C2) the declared result is a tuple of the state's shape and an array of integers or floats of whole bytes, or only
//        that array
#include <cstring>

#include "ops/checks.h"
#include "ops/counter_bits.h"
#include "ops/element_rules.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kAlgorithms[] = {"rng_default", "rng_philox", "rng_three_fry"};

Status read_rng_bit_generator(AttributeReader& reader, Instruction& rng) {
  LT_ASSIGN_OR_RETURN(const std::string word, reader.take_word("algorithm"));
  size_t kind = 0;
  while (kind < 3 && kAlgorithms[kind] != word) ++kind;
  if (kind == 3) return reader.fault_at("algorithm", "expected rng_default, rng_philox or rng_three_fry, got " + word);
  rng.attributes = RngBitGeneratorAttributes{static_cast<RngAlgorithm>(kind)};
  return {};
}

void print_rng_bit_generator(const Instruction& rng, AttributeWriter& writer) {
  writer.text("algorithm", kAlgorithms[static_cast<size_t>(rng.as<RngBitGeneratorAttributes>().algorithm)]);
}

Result<Shape> infer_rng_bit_generator(const Instruction& rng) {
  const Shape& state = rng.operand(0).shape;
  if (state.type != ElementType::kU64 && state.type != ElementType::kU32) {  // (C1)
    return broken(rng, 1, "the state is " + to_string_without_layout(state) + ", not u32 or u64");
  }
  const Shape& result = rng.shape;
  const bool pair = result.is_tuple() && result.elements.size() == 2 && same_shape(result.elements[0], state);
  const Shape& bits = pair ? result.elements[1] : result;
  const bool has_bits = (is_integral(bits.type) || is_floating(bits.type)) && type_bits(bits.type) % 8 == 0;
  if (!has_bits) {  // (C2)
    return broken(rng, 2, "can't give " + to_string_without_layout(result));
  }
  return result;
}

/// The state as words: (key, counter low, counter high).
struct State {
  uint64_t key = 0, low = 0, high = 0;
  std::array<uint32_t, 2> key_words() const { return {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}; }
};

/// At least `count` words, a multiple of four; the counter advances by one for each four.
std::vector<uint32_t> philox_words(State& state, size_t count) {
  std::vector<uint32_t> words;
  while (words.size() < count) {
    const auto four =
        philox4x32(state.key_words(), {static_cast<uint32_t>(state.low), static_cast<uint32_t>(state.low >> 32),
                                       static_cast<uint32_t>(state.high), static_cast<uint32_t>(state.high >> 32)});
    words.insert(words.end(), four.begin(), four.end());
    if (++state.low == 0) ++state.high;
  }
  return words;
}

/// The two words of each pair are neighbours along one dimension: the first one of even extent, else the largest.
std::vector<uint32_t> threefry_words(State& state, const Dims& extents) {
  size_t split = 0;
  for (size_t d = extents.size(); d-- > 0;) {
    if (extents[d] >= extents[split]) split = d;
  }
  for (size_t d = extents.size(); d-- > 0;) {
    if (extents[d] % 2 == 0) split = d;
  }
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < split; ++d) outer *= extents[d];
  for (size_t d = split + 1; d < extents.size(); ++d) inner *= extents[d];
  const int64_t extent = extents.empty() ? 1 : extents[split], half = (extent + 1) / 2;
  std::vector<uint32_t> words(static_cast<size_t>(outer * extent * inner));
  for (int64_t i = 0; i < outer * half * inner; ++i, ++state.low) {
    const auto pair =
        threefry2x32(state.key_words(), {static_cast<uint32_t>(state.low), static_cast<uint32_t>(state.low >> 32)});
    for (int64_t word = 0; word < 2; ++word) {
      const int64_t at = 2 * (i / inner % half) + word;
      if (at < extent) {
        words[(i / inner / half * extent + at) * inner + i % inner] = pair[word];
      }
    }
  }
  return words;
}

Result<Value> eval_rng_bit_generator(const Instruction& rng, Operands operands, EvalContext&) {
  const Literal& given = *operands[0];
  const bool wide = given.shape().type == ElementType::kU64;
  const int64_t words_given = given.size() * (wide ? 2 : 1);
  const bool threefry = rng.as<RngBitGeneratorAttributes>().algorithm == RngAlgorithm::kThreeFry;
  if (words_given < 4 || words_given > 6 || words_given % 2 != 0 || (threefry && words_given != 4)) {
    return Status::unsupported("rng-bit-generator " + rng.name + ": no algorithm with a state of " +
                               to_string_without_layout(given.shape()));
  }
  const auto word = [&](int64_t i) {
    return wide ? given.data<uint64_t>()[i]
                : given.data<uint32_t>()[2 * i] | uint64_t{given.data<uint32_t>()[2 * i + 1]} << 32;
  };
  State state{word(0), word(1), word(words_given == 6 ? 2 : 0)};  // of two, the key is also `high`
  const Shape& shape = rng.shape.is_tuple() ? rng.shape.elements[1] : rng.shape;
  auto bits = std::make_shared<Literal>(shape);
  const auto count = static_cast<size_t>(bits->size());
  const size_t width = static_cast<size_t>(stored_bytes(shape.type));
  if (width == 8 && threefry) {
    for (size_t i = 0; i < count; ++i, ++state.low) {
      const auto pair =
          threefry2x32(state.key_words(), {static_cast<uint32_t>(state.low), static_cast<uint32_t>(state.low >> 32)});
      std::memcpy(bits->bytes().data() + i * width, pair.data(), width);
    }
  } else {
    const size_t per_element = width == 8 ? 2 : 1;
    const std::vector<uint32_t> words =
        threefry ? threefry_words(state, shape.dims) : philox_words(state, count * per_element);
    for (size_t i = 0; i < count; ++i) std::memcpy(bits->bytes().data() + i * width, &words[i * per_element], width);
  }
  if (!rng.shape.is_tuple()) return Value(bits);
  auto after = std::make_shared<Literal>(given);
  const uint64_t counters[] = {state.low, state.high};
  std::memcpy(after->bytes().data() + 8, counters, after->bytes().size() - 8);
  return Value(std::make_shared<Literal>(std::vector<Value>{after, bits}));
}

void extents_of_generator(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  r.freeze(i.operand(0), "the state of random numbers");
  r.same(i, 0, i.operand(0), 0);
}

void reads_of_generator(OperandReads& reads) { reads.in_own_loop(reads.elements()); }

}  // namespace

const OpRule kRngBitGeneratorRule{
    .read = read_rng_bit_generator,
    .print = print_rng_bit_generator,
    .infer = infer_rng_bit_generator,
    .eval = eval_rng_bit_generator,
    .leaf_element = element_rng_bit_generator,
    .has_element = has_element_rng_bit_generator,
    .slicing = kNotSliced,
    .extents = extents_of_generator,
    .reads = reads_of_generator,
    .arithmetic = {.plain = 60, .complex = 60, .code = 1, .rounds = Rounds::kNever, .terms = no_sum}};

}  // namespace lowtide::engine
