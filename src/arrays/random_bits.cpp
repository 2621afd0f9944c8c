// Words of random bits: Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as
// 1, 2, 3; SC 2011), laid out as MLX has it. Of n words, with h = n / 2 and H = h + n % 2, pair i of the generator is
// words i and i + H; of an odd n the middle one is the first of a pair whose second counter is 0 and whose second word
// nobody gets. Each word follows from its place alone, so that whoever reads it can make it.
#include <array>

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

class RandomBits final : public Primitive {
 public:
  explicit RandomBits(Shape shape) : shape_(std::move(shape)) {}
  std::string_view name() const override { return "random_bits"; }
  void describe(Key& key) const override { key.numbers(shape_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    const Term& keys = in[0];
    const Shape& shape = out[0].shape;
    const int64_t words = element_count(shape_), pairs = words / 2, half = pairs + words % 2;
    const size_t batches = keys.shape.size() - 1;
    if (element_count(shape) == 0) return {to.constant(0, uint32, shape)};
    // One line of words per key.
    Shape line(keys.shape.begin(), keys.shape.end() - 1);
    std::vector<int64_t> dimensions;
    for (size_t d = 0; d < batches; ++d) dimensions.push_back(static_cast<int64_t>(d));
    const Shape of_keys = line;
    line.push_back(words);
    const auto key = [&](int64_t word) {
      std::vector<int64_t> starts(batches + 1, 0), stops = keys.shape, strides(batches + 1, 1);
      starts.back() = word;
      stops.back() = word + 1;
      return to.broadcast(to.reshape(to.slice(keys, starts, stops, strides), of_keys), line, dimensions);
    };
    const auto number = [&](int64_t value) { return to.bits(static_cast<uint64_t>(value), uint32, line); };
    const Term at = to.iota(line, uint32, static_cast<int64_t>(batches));
    const Term first = at < number(half);
    Term second = at + number(half);
    if (words % 2) second = to.select(to.compare(at, number(pairs), "EQ"), number(0), second);
    const auto [x, y] = threefry(key(0), key(1), to.select(first, at, at - number(half)), to.select(first, second, at));
    const Term flat = to.select(first, x, y);
    return {to.reshape(flat, shape)};
  }
  Gradients vjp(const Backward&) const override { return {std::nullopt}; }
  std::vector<array> vmap(const Batch& batch) const override { return {bits_of(batch.inputs[0], shape_)}; }
  static array bits_of(const array& keys, const Shape& shape) {
    Shape whole(keys.shape().begin(), keys.shape().end() - 1);
    whole.insert(whole.end(), shape.begin(), shape.end());
    return apply(std::make_shared<RandomBits>(shape), {keys}, std::move(whole), uint32);
  }

 private:
  Shape shape_;  ///< of one key's
};

}  // namespace

array random_bits(const array& key, const Shape& shape, StreamOrDevice) { return RandomBits::bits_of(key, shape); }

}  // namespace lowtide::lazy
