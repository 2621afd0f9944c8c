#include "passes/execute/spell_random_numbers.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "ops/counter_bits.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

class GeneratorSpeller {
 public:
  GeneratorSpeller(Instruction& rng, Maker& maker)
      : rng_(rng),
        maker_(maker),
        type_(rng.shape.type),
        word_(type_bits(type_) > 32 ? ElementType::kU64 : ElementType::kU32),
        dims_(rng.shape.dims) {}

  Instruction* spell() {
    if (rng_.as<RngAttributes>().distribution == RngDistribution::kNormal) return normal();
    return is_floating(type_) ? uniform() : uniform_integer();
  }

 private:
  Instruction* uniform() {
    const ElementType wide = computed();
    Instruction* a = spread(maker_.convert(rng_.operands[0], wide));
    Instruction* b = spread(maker_.convert(rng_.operands[1], wide));
    Instruction* part = unit(bits(dims_), false);
    Instruction* number = maker_.binary(Opcode::kAdd, a, times(part, minus(b, a)));
    number = maker_.convert(number, type_);
    Instruction* below = maker_.compare(number, spread(rng_.operands[1]), CompareDirection::kLt);
    return maker_.select(below, number, spread(rng_.operands[0]));
  }

  Instruction* uniform_integer() {
    const ElementType integer = word_ == ElementType::kU64 ? ElementType::kS64 : ElementType::kS32;
    const auto word_of = [&](Instruction* x) { return maker_.convert(maker_.convert(x, integer), word_); };
    Instruction* a = word_of(rng_.operands[0]);
    Instruction* span = minus(word_of(rng_.operands[1]), a);
    span = maker_.binary(Opcode::kMaximum, span, maker_.constant(word_, 1));
    Instruction* words = bits(dims_);
    Instruction* offset = maker_.binary(Opcode::kRemainder, words, spread(span));
    return maker_.convert(maker_.binary(Opcode::kAdd, spread(a), offset), type_);
  }

  Instruction* normal() {
    const ElementType wide = computed();
    Dims pairs = dims_;
    pairs.insert(pairs.begin(), 2);
    Instruction* both = bits(pairs);
    const auto half = [&](int64_t k) {
      SliceAttributes part{Dims(pairs.size(), 0), pairs, Dims(pairs.size(), 1)};
      part.starts[0] = k;
      part.limits[0] = k + 1;
      Dims one = pairs;
      one[0] = 1;
      return maker_.reshape(maker_.make(Opcode::kSlice, Shape::array(word_, one), {both}, std::move(part)), dims_);
    };
    Instruction* logarithm = unary(Opcode::kLog, unit(half(0), true));
    Instruction* radius = unary(Opcode::kSqrt, times(filled(-2), logarithm));
    Instruction* turn = unit(half(1), false);
    Instruction* angle = times(turn, filled(2 * std::numbers::pi));
    Instruction* number = times(radius, unary(Opcode::kCosine, angle));
    Instruction* mean = spread(maker_.convert(rng_.operands[0], wide));
    Instruction* deviation = spread(maker_.convert(rng_.operands[1], wide));
    return maker_.convert(maker_.binary(Opcode::kAdd, mean, times(deviation, number)), type_);
  }

  /// The random words of this draw.
  Instruction* bits(const Dims& dims) {
    Instruction* counter = maker_.make(Opcode::kRngGetAndUpdateState, Shape::array(ElementType::kU64, {2}), {},
                                       DeltaAttributes{static_cast<int64_t>(blocks_of_rng(rng_))});
    Instruction* key = maker_.filled(ElementType::kU64, {1}, 0);
    const Shape state = Shape::array(ElementType::kU64, {3}), words = Shape::array(word_, dims);
    Instruction* both = maker_.make(Opcode::kConcatenate, state, {key, counter}, DimensionsAttributes{{0}});
    Instruction* generated = maker_.make(Opcode::kRngBitGenerator, Shape::tuple({state, words}), {both},
                                         RngBitGeneratorAttributes{RngAlgorithm::kPhilox});
    return maker_.make(Opcode::kGetTupleElement, words, {generated}, TupleIndexAttributes{1});
  }

  /// Numbers in [0, 1) or, with `half`, in (0, 1): in the middle between two of the former.
  Instruction* unit(Instruction* bits, bool half) {
    const bool is_double = computed() == ElementType::kF64;
    const int digits = (is_double ? std::numeric_limits<double>::digits : std::numeric_limits<float>::digits) - half;
    Instruction* shift = spread(maker_.constant(word_, type_bits(word_) - digits));
    Instruction* number = maker_.convert(maker_.binary(Opcode::kShiftRightLogical, bits, shift), computed());
    if (half) number = maker_.binary(Opcode::kAdd, number, filled(0.5));
    return times(number, filled(std::ldexp(1.0, -digits)));
  }

  ElementType computed() const { return type_ == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32; }
  Instruction* filled(double number) { return spread(maker_.number(computed(), number)); }
  Instruction* spread(Instruction* scalar) { return maker_.broadcast(scalar, dims_, {}); }
  Instruction* times(Instruction* a, Instruction* b) { return maker_.binary(Opcode::kMultiply, a, b); }
  Instruction* minus(Instruction* a, Instruction* b) { return maker_.binary(Opcode::kSubtract, a, b); }
  Instruction* unary(Opcode opcode, Instruction* x) {
    return maker_.make(opcode, Shape::array(x->shape.type, dims_), {x});
  }

  Instruction& rng_;
  Maker& maker_;
  ElementType type_, word_;
  Dims dims_;
};

}  // namespace

Result<PassResult> spell_random_numbers(Module& module) {
  return rewrite_each(
      module, {Opcode::kRng}, [](Instruction& i, Maker& maker) { return GeneratorSpeller(i, maker).spell(); },
      "draws spelt");
}

}  // namespace lowtide::engine
