// rng: numbers from a generator that is hidden from the program.
//   operands a[], b[] -> T[s] as declared: uniform in [a, b), or normal with mean a and deviation b.
//   (C1) both operands are scalars of the result's type
//   (C2) normal numbers are floats, uniform ones floats, integers or predicates
// rng-get-and-update-state: the counter of that hidden generator, u64[k] as declared, low word first; it is advanced by
//   `delta`.
//   (C1) the result is an array of u64, not empty
//
// The generator is Philox-4x32 with key zero; each step of its counter gives four words. The counter starts every run
// with XLA's initial value, so a program gives the same numbers in each run. An instruction continues where the one
// before it, in the order of the text and of the iterations, stopped, and uses one word for each uniform number, two
// for each normal one (for 64-bit types two and four). passes/execute/spell_random_numbers.h describes the conversion.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/checks.h"
#include "ops/counter_bits.h"
#include "ops/numbers.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Status read_rng(AttributeReader& reader, Instruction& rng) {
  LT_ASSIGN_OR_RETURN(const std::string word, reader.take_word("distribution"));
  if (word != "rng_uniform" && word != "rng_normal") {
    return reader.fault_at("distribution", "expected rng_uniform or rng_normal, got " + word);
  }
  rng.attributes = RngAttributes{word == "rng_normal" ? RngDistribution::kNormal : RngDistribution::kUniform};
  return {};
}

void print_rng(const Instruction& rng, AttributeWriter& writer) {
  const bool normal = rng.as<RngAttributes>().distribution == RngDistribution::kNormal;
  writer.text("distribution", normal ? "rng_normal" : "rng_uniform");
}

Result<Shape> infer_rng(const Instruction& rng) {
  const Shape scalar = Shape::scalar(rng.shape.type);
  for (const Instruction* operand : rng.operands) {
    if (rng.shape.is_array() && same_shape(operand->shape, scalar)) continue;  // (C1)
    return broken(
        rng, 1,
        "takes " + to_string_without_layout(operand->shape) + " to make " + to_string_without_layout(rng.shape));
  }
  const bool normal = rng.as<RngAttributes>().distribution == RngDistribution::kNormal;
  if (!is_floating(rng.shape.type) && (normal || is_complex(rng.shape.type))) {  // (C2)
    return broken(rng, 2, "can't make " + to_string_without_layout(rng.shape));
  }
  return rng.shape;
}

/// Converts words of the hidden generator to numbers.
class Draw {
 public:
  Draw(const Instruction& rng, EvalContext& context)
      : words_each_(type_bits(rng.shape.type) > 32 ? 2 : 1), counter_(context.advance_generator(blocks_of_rng(rng))) {}

  /// The random bits of number i: 32, or 64 for types of more than 32 bits.
  uint64_t bits(int64_t i) const {
    uint64_t bits = 0;
    for (int64_t word = words_each_; word-- > 0;) {
      const int64_t at = i * words_each_ + word;
      const uint64_t counter = counter_ + static_cast<uint64_t>(at / 4);
      const auto four =
          philox4x32({0, 0}, {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0});
      bits = bits << 32 | four[at % 4];
    }
    return bits;
  }
  /// A number in [0, 1); with `half` in (0, 1): halfway between two such numbers.
  template <class C>
  C unit(int64_t i, bool half) const {
    constexpr int kDigits = std::numeric_limits<C>::digits;
    const int digits = half ? kDigits - 1 : kDigits;
    const C step = std::ldexp(C(1), -digits);
    return (static_cast<C>(bits(i) >> (32 * words_each_ - digits)) + (half ? C(0.5) : C(0))) * step;
  }

 private:
  int64_t words_each_;
  uint64_t counter_;
};

template <class C>
C normal_number(const Draw& draw, int64_t i, int64_t count, C mean, C deviation) {
  const auto rounded = [](double x) { return static_cast<C>(x); };
  const C radius = rounded(std::sqrt(C(-2) * rounded(std::log(draw.unit<C>(i, true)))));
  const C angle = draw.unit<C>(count + i, false) * C(2 * std::numbers::pi);
  return mean + deviation * (radius * rounded(std::cos(angle)));
}

Result<Value> eval_rng(const Instruction& rng, Operands operands, EvalContext& context) {
  LT_ASSIGN_OR_RETURN(std::shared_ptr<Literal> made, new_array(rng.shape));
  const Draw draw(rng, context);
  const bool normal = rng.as<RngAttributes>().distribution == RngDistribution::kNormal;
  dispatch(rng.shape.type, [&]<class T>() {
    using C = computed_t<T>;
    const std::span<T> all = made->data<T>();
    const C a = widen(operands[0]->data<T>()[0]), b = widen(operands[1]->data<T>()[0]);
    for (int64_t i = 0; i < made->size(); ++i) {
      T& number = all[i];
      if constexpr (std::is_floating_point_v<C>) {
        if (normal) {
          number = narrow<T>(normal_number<C>(draw, i, made->size(), a, b));
        } else {
          number = narrow<T>(a + draw.unit<C>(i, false) * (b - a));
          if (!(widen(number) < b)) number = narrow<T>(a);  // it was rounded up to b
        }
      } else if constexpr (std::is_integral_v<C>) {
        const bool wide = type_bits(rng.shape.type) > 32;
        uint64_t span = static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
        if (!wide) span = static_cast<uint32_t>(span);
        number = narrow<T>(static_cast<C>(static_cast<uint64_t>(a) + draw.bits(i) % std::max<uint64_t>(span, 1)));
      }
    }
  });
  return Value(made);
}

Status read_state(AttributeReader& reader, Instruction& state) {
  DeltaAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.delta, reader.take_integer("delta"));
  state.attributes = attributes;
  return {};
}

void print_state(const Instruction& state, AttributeWriter& writer) {
  writer.integer("delta", state.as<DeltaAttributes>().delta);
}

Result<Shape> infer_state(const Instruction& state) {
  if (state.shape.type != ElementType::kU64 || element_count(state.shape) == 0) {  // (C1)
    return broken(state, 1, "gives " + to_string_without_layout(state.shape) + ", not words of u64");
  }
  return state.shape;
}

Result<Value> eval_state(const Instruction& state, Operands, EvalContext& context) {
  LT_ASSIGN_OR_RETURN(std::shared_ptr<Literal> words, new_array(state.shape));
  const auto delta = static_cast<uint64_t>(state.as<DeltaAttributes>().delta);
  const uint64_t counter = context.advance_generator(delta);
  if (words->size() > 0) words->data<uint64_t>()[0] = counter;
  return Value(words);
}

}  // namespace

uint64_t blocks_of_rng(const Instruction& rng) {
  const uint64_t each = type_bits(rng.shape.type) > 32 ? 2 : 1;
  const uint64_t numbers = rng.as<RngAttributes>().distribution == RngDistribution::kNormal ? 2 : 1;
  return (static_cast<uint64_t>(element_count(rng.shape)) * numbers * each + 3) / 4;
}

const OpRule kRngRule{.read = read_rng,
                      .print = print_rng,
                      .infer = infer_rng,
                      .eval = eval_rng,
                      .slicing = kNotSliced,
                      .extents = free_extents,
                      .reads = reads_anywhere,
                      .arithmetic = {.plain = 60, .complex = 60, .code = 1, .rounds = Rounds::kNever, .terms = no_sum}};
const OpRule kRngGetAndUpdateStateRule{.read = read_state,
                                       .print = print_state,
                                       .infer = infer_state,
                                       .eval = eval_state,
                                       .slicing = kNotSliced,
                                       .extents = unknown_extents,
                                       .reads = reads_anywhere,
                                       .arithmetic = kOneOperation};

}  // namespace lowtide::engine
