// rng-bit-generator: bits from a counter-based generator whose state the program carries.
//   state u64[2] or u64[3] (Philox, the default), u64[2] (ThreeFry), or the same bits as u32 -> (state after, T[s]);
//   an older form gives T[s] alone.
//   (C1) the state is an array of u32 or u64
//   (C2) the declared result is the state's shape with an array of integers or floats, or that array alone
#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide {
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
  if (!is_integral(bits.type) && !is_floating(bits.type)) {  // (C2)
    return broken(rng, 2, "can't give " + to_string_without_layout(result));
  }
  return result;
}

}  // namespace

const OpRule kRngBitGeneratorRule{read_rng_bit_generator, print_rng_bit_generator, infer_rng_bit_generator, nullptr};

}  // namespace lowtide
