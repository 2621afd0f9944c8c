// Words of random bits: Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as
// 1, 2, 3; SC 2011), in MLX's layout. For n words, with h = n / 2 and H = h + n % 2, pair i of the generator gives
// words i and i + H; if n is odd, the middle word is the first of a pair whose second counter is 0 and whose second
// word is unused. Each word depends only on the key and its index, so that it can be computed where it is read.
// JAX's partitionable layout: word i is both words of the pair whose counters are i's upper and lower half, combined.
// Philox-4x32 with 10 rounds (the same paper): word i is word i % 4 of the block whose counter is i / 4.
#include <array>

#include "arrays/runtime.h"

#include "arrays/primitives.h"

namespace lowtide::lazy {
namespace {

Term rotated(const Term& a, int by) { return shift_left(a, by) | shift_right(a, 32 - by); }

std::array<Term, 2> threefry(const Term& key0, const Term& key1, const Term& counter0, const Term& counter1) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const Term last = key0 ^ key1 ^ key0.to->constant(0x1BD11BDA, uint32, key0.shape);
  const std::array<Term, 3> keys = {key0, key1, last};
  Term x = counter0 + key0, y = counter1 + key1;
  for (size_t group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      x = x + y;
      y = rotated(y, rotation) ^ x;
    }
    x = x + keys[(group + 1) % 3];
    y = y + keys[(group + 2) % 3] + static_cast<double>(group + 1);
  }
  return {x, y};
}

/// The high and the low word of a times `by`.
std::array<Term, 2> product(const Term& a, uint32_t by) {
  Lowering& to = *a.to;
  const Term wide = to.binary("multiply", to.convert(a, uint64), to.bits(by, uint64, a.shape));
  return {to.convert(shift_right(wide, 32), uint32), to.convert(wide, uint32)};
}

std::array<Term, 4> philox(Term key0, Term key1, std::array<Term, 4> c) {
  for (int round = 0; round < 10; ++round) {
    const auto [high0, low0] = product(c[0], 0xD2511F53);
    const auto [high1, low1] = product(c[2], 0xCD9E8D57);
    c = {high1 ^ c[1] ^ key0, low1, high0 ^ c[3] ^ key1, low0};
    key0 = key0 + static_cast<double>(0x9E3779B9);
    key1 = key1 + static_cast<double>(0xBB67AE85);
  }
  return c;
}

class RandomBits final : public Primitive {
 public:
  RandomBits(Shape shape, Words words) : shape_(std::move(shape)), words_(words) {}
  std::string_view name() const override { return "random_bits"; }
  void describe(Key& key) const override {
    key.numbers(shape_);
    key.number(static_cast<int64_t>(words_));
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    const Term& keys = in[0];
    const Shape& shape = out[0].shape;
    const size_t batches = keys.shape.size() - 1;
    if (element_count(shape) == 0) return {to.constant(0, uint32, shape)};
    // One row of words per key.
    Shape line(keys.shape.begin(), keys.shape.end() - 1);
    std::vector<int64_t> dimensions;
    for (size_t d = 0; d < batches; ++d) dimensions.push_back(static_cast<int64_t>(d));
    const Shape of_keys = line;
    line.push_back(element_count(shape_));
    const auto key = [&](int64_t word) {
      std::vector<int64_t> starts(batches + 1, 0), stops = keys.shape, strides(batches + 1, 1);
      starts.back() = word;
      stops.back() = word + 1;
      return to.broadcast(to.reshape(to.slice(keys, starts, stops, strides), of_keys), line, dimensions);
    };
    const auto along = static_cast<int64_t>(batches);
    return {to.reshape(
        words_ == Words::kHalves ? halves(to, key(0), key(1), line, along) : counted(to, key(0), key(1), line, along),
        shape)};
  }
  Gradients vjp(const Backward&) const override { return {std::nullopt}; }
  std::vector<array> vmap(const Batch& batch) const override { return {random_words(batch.inputs[0], shape_, words_)}; }

 private:
  Term halves(Lowering& to, const Term& key0, const Term& key1, const Shape& line, int64_t along) const {
    const int64_t words = element_count(shape_), pairs = words / 2, half = pairs + words % 2;
    const auto number = [&](int64_t value) { return to.bits(static_cast<uint64_t>(value), uint32, line); };
    const Term at = to.iota(line, uint32, along);
    const Term first = at < number(half);
    Term second = at + number(half);
    if (words % 2) second = to.select(to.compare(at, number(pairs), "EQ"), number(0), second);
    const auto [x, y] = threefry(key0, key1, to.select(first, at, at - number(half)), to.select(first, second, at));
    return to.select(first, x, y);
  }

  /// Words that are computed from their 64-bit index alone.
  Term counted(Lowering& to, const Term& key0, const Term& key1, const Shape& line, int64_t along) const {
    const Term at = to.iota(line, uint64, along);
    const auto low = [&](const Term& a) { return to.convert(a, uint32); };
    const auto high = [&](const Term& a) { return low(shift_right(a, 32)); };
    const auto is = [&](const Term& a, uint64_t value) { return to.compare(a, to.bits(value, a.dtype, line), "EQ"); };
    if (words_ == Words::kPartitionable) {
      const auto [x, y] = threefry(key0, key1, high(at), low(at));
      return x ^ y;
    }
    if (words_ == Words::kPairs) {
      const Term pair = shift_right(at, 1);
      const auto [x, y] = threefry(key0, key1, high(pair), low(pair));
      return to.select(is(low(at) & to.bits(1, uint32, line), 0), x, y);
    }
    const Term block = shift_right(at, 2), zero = to.constant(0, uint32, line);
    const auto made = philox(key0, key1, {low(block), high(block), zero, zero});
    const Term place = low(at) & to.bits(3, uint32, line);
    return to.select(is(place, 0), made[0],
                     to.select(is(place, 1), made[1], to.select(is(place, 2), made[2], made[3])));
  }

  Shape shape_;  ///< of one key's words
  Words words_;
};

}  // namespace

array random_words(const array& keys, const Shape& shape, Words words) {
  Shape whole(keys.shape().begin(), keys.shape().end() - 1);
  whole.insert(whole.end(), shape.begin(), shape.end());
  return apply(std::make_shared<RandomBits>(shape, words), {keys}, std::move(whole), uint32);
}

array random_bits(const array& key, const Shape& shape, StreamOrDevice) {
  return random_words(key, shape, this_thread().words);
}

}  // namespace lowtide::lazy
