// Random numbers by statistics, each with a control that the same test must refuse; and the words that aren't MLX's.
// Those that are stand in golden.cpp.
#include <algorithm>
#include <functional>
#include <set>

#include "support.h"

namespace lowtide {
namespace {

constexpr int64_t kDraws = 1 << 20;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2)); }
double laplace_cdf(double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }
double gumbel_cdf(double x) { return std::exp(-std::exp(-x)); }
double cut_normal_cdf(double x) {  // between -2 and 1.5
  return (normal_cdf(x) - normal_cdf(-2)) / (normal_cdf(1.5) - normal_cdf(-2));
}

struct Law {
  const char* name;
  std::function<array(const array& key)> draw;
  double (*cdf)(double);
  double mean, variance, fourth;  ///< the fourth central moment
};
const std::vector<Law>& laws() {
  const double pi = M_PI;
  static const std::vector<Law> kLaws = {
      {"uniform", [](const array& k) { return random::uniform({kDraws}, k); },
       [](double x) { return std::clamp(x, 0.0, 1.0); }, 0.5, 1.0 / 12, 1.0 / 80},
      {"normal", [](const array& k) { return random::normal({kDraws}, k); }, normal_cdf, 0, 1, 3},
      {"laplace", [](const array& k) { return random::laplace({kDraws}, k); }, laplace_cdf, 0, 2, 24},
      {"gumbel", [](const array& k) { return random::gumbel({kDraws}, float32, k); }, gumbel_cdf, 0.5772156649,
       pi * pi / 6, 14.6114},
      {"truncated_normal",
       [](const array& k) { return random::truncated_normal(array(-2.0F), array(1.5F), {kDraws}, float32, k); },
       cut_normal_cdf, -0.0829559421, 0.6611278003, 0.9943807475},
  };
  return kLaws;
}

/// Kolmogorov and Smirnov's distance times the root of the count: beyond 1.95 once in a thousand draws.
double ks(const array& drawn, double (*cdf)(double)) {
  std::vector<float> x = floats(drawn);
  std::ranges::sort(x);
  const auto n = static_cast<double>(x.size());
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double p = cdf(x[i]);
    most = std::max({most, std::fabs(p - static_cast<double>(i) / n), std::fabs(static_cast<double>(i + 1) / n - p)});
  }
  return most * std::sqrt(n);
}

/// How many of its standard errors the mean is off, and the variance.
std::pair<double, double> off(const array& drawn, const Law& law) {
  const array x = astype(drawn, float64), apart = x - array(law.mean, float64);
  const auto n = static_cast<double>(drawn.size());
  const double variance = mean(square(apart)).item<double>();
  return {std::fabs(mean(x).item<double>() - law.mean) / std::sqrt(law.variance / n),
          std::fabs(variance - law.variance) / std::sqrt((law.fourth - law.variance * law.variance) / n)};
}

TEST(ArraysRandom, UniformNumbersBetweenZeroAndOneDependOnTheirBounds) {
  const array key = random::key(3), zero = array(0.0F), one = array(1.0F);
  for (const Dtype dtype :
       {float32, float16, bfloat16}) {  // bounds that aren't scalars are always multiplied and added
    const array drawn = random::uniform(zero, one, {1000}, dtype, key);
    EXPECT_TRUE(array_equal(drawn, random::uniform(zeros({1}), ones({1}), {1000}, dtype, key)).item<bool>());
    EXPECT_FALSE(array_equal(drawn, random::uniform(zero, array(2.0F), {1000}, dtype, key)).item<bool>());
  }
  const auto total = [&](const std::vector<array>& bounds) {
    return sum(random::uniform(bounds[0], bounds[1], {1000}, float32, key));
  };
  const std::function<array(const std::vector<array>&)> of_bounds = total;
  const std::vector<array> gradients = grad(of_bounds, std::vector<int>{0, 1})({zero, one});
  EXPECT_NEAR(gradients[0].item<float>() + gradients[1].item<float>(), 1000, 0.1);
  EXPECT_GT(gradients[0].item<float>(), 400);
}

TEST(ArraysRandom, NumbersFollowTheirLaws) {
  for (const random::Bits bits : {random::Bits::Mlx, random::Bits::Partitionable, random::Bits::Philox}) {
    const random::UseBits use(bits);
    for (const Law& law : laws()) {
      const array drawn = law.draw(random::key(3));
      EXPECT_LT(ks(drawn, law.cdf), 1.95) << law.name;
      EXPECT_LT(off(drawn, law).first, 5) << law.name;
      EXPECT_LT(off(drawn, law).second, 5) << law.name;
    }
  }
  for (const Law& law : laws()) {  // the controls: a little wider, a little aside
    const array drawn = law.draw(random::key(3)), wide = drawn * 1.02F, aside = drawn + 0.01F;
    EXPECT_GT(ks(wide, law.cdf), 1.95) << law.name;
    EXPECT_GT(off(aside, law).first, 5) << law.name;
  }
}

double correlation(const array& a, const array& b) {
  const array x = a - mean(a), y = b - mean(b);
  return std::fabs((sum(x * y) / sqrt(sum(x * x) * sum(y * y))).item<float>());
}

TEST(ArraysRandom, NeighboursAndPairsAreIndependent) {
  constexpr int kRows = 512, kColumns = 512;  // 5 / sqrt(2^18) is 0.0098
  for (const random::Bits bits : {random::Bits::Mlx, random::Bits::Partitionable, random::Bits::Philox}) {
    const random::UseBits use(bits);
    const array x = random::normal({kRows + 1, kColumns}, random::key(5)), line = flatten(x);
    const auto from = [&](int64_t lag) { return slice(line, {lag}, {lag + int64_t{kRows} * kColumns - 4096}); };
    for (const int64_t lag : {1, 2, 3, 4, 7, 8, 16, 64, 128, 255, 256, 512, 1024, 4096})  // what kernels are cut at
      EXPECT_LT(correlation(from(0), from(lag)), 0.011) << lag;
    const int64_t half = (int64_t{kRows} + 1) * kColumns / 2;  // MLX's pairs
    EXPECT_LT(correlation(slice(line, {0}, {half}), slice(line, {half}, {2 * half})), 0.011);
    const auto [one, two] = random::split(random::key(5));
    EXPECT_LT(correlation(random::normal({1 << 18}, one), random::normal({1 << 18}, two)), 0.011);
    const array near = from(0) + from(1) * 0.1F;  // the control
    EXPECT_GT(correlation(near, from(1)), 0.011);
  }
}

TEST(ArraysRandom, SmallFloatsHaveManyValues) {
  const auto distinct = [](const array& a) {
    const std::vector<uint16_t> bits = elements<uint16_t>(view(a, uint16));
    return std::set<uint16_t>(bits.begin(), bits.end()).size();
  };
  EXPECT_GE(distinct(random::normal({1'000'000}, bfloat16, random::key(1))), 2000U);
  EXPECT_GE(distinct(random::laplace({1'000'000}, bfloat16, random::key(1))), 2000U);
  const array coarse = floor(random::uniform({1'000'000}, random::key(1)) * 256.0F) / 256.0F;  // the control: 8 bits
  EXPECT_LT(distinct(astype(coarse, bfloat16)), 2000U);
}

/// Threefry-2x32-20 of one pair, by the paper.
std::pair<uint32_t, uint32_t> threefry(uint32_t k0, uint32_t k1, uint32_t x, uint32_t y) {
  const uint32_t keys[] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDA};
  const int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  x += k0;
  y += k1;
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int by : turns[group % 2]) {
      x += y;
      y = (y << by | y >> (32 - by)) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

TEST(ArraysRandom, WordsThatAreCountedAreThePapers) {
  const array none = random::key(0);
  {
    const random::UseBits use(random::Bits::Philox);
    EXPECT_EQ(elements<uint32_t>(random::bits({4}, none)),
              (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  }
  const array key = random::key(uint64_t{7} << 32 | 9);
  const int64_t far = int64_t{1} << 32;
  const auto words_at = [&](int64_t place) { return slice(random::bits({far + 64}, key), {place}, {place + 8}); };
  {
    const random::UseBits use(random::Bits::Partitionable);
    EXPECT_EQ(elements<uint32_t>(random::bits({1}, none))[0], 0x6b200159U ^ 0x99ba4efeU);
    const auto [x, y] = threefry(7, 9, 1, 3);  // the fourth word beyond 2^32
    EXPECT_EQ(elements<uint32_t>(words_at(far))[3], x ^ y);
    const auto [key0, key1] = threefry(7, 9, 0, 1);
    EXPECT_EQ(elements<uint32_t>(random::split(key).second), (std::vector<uint32_t>{key0, key1}));
  }
  for (const random::Bits bits : {random::Bits::Partitionable, random::Bits::Philox}) {
    const random::UseBits use(bits);
    EXPECT_FALSE(any(equal(words_at(0), words_at(far))).item<bool>());
    EXPECT_TRUE(array_equal(random::bits({5}, key), slice(random::bits({9}, key), {0}, {5})).item<bool>());
    EXPECT_TRUE(array_equal(random::bits({9}, 1, key), astype(bitwise_and(random::bits({9}, key), array(255U)), uint8))
                    .item<bool>());
    const array batch = vmap(OneToOne([](const array& k) { return random::bits({3}, k); }))(stack({none, key}));
    EXPECT_TRUE(array_equal(take(batch, 1, 0), random::bits({3}, key)).item<bool>());
  }
  // The control: MLX's layout depends on the size.
  EXPECT_FALSE(array_equal(random::bits({5}, key), slice(random::bits({9}, key), {0}, {5})).item<bool>());
}

TEST(ArraysRandom, IntegersAreEquallyOften) {
  const array key = random::key(11);
  const auto share = [](const array& yes) { return mean(astype(yes, float32)).item<float>(); };
  const double error = 5 * 0.5 / std::sqrt(static_cast<double>(kDraws));
  const array wide = random::integers(0, 1 << 30, {kDraws}, int32, key);
  EXPECT_NEAR(share(equal(bitwise_and(wide, array(1)), array(1))), 0.5, error);
  const array mlx = random::randint(0, 1 << 30, {kDraws}, int32, key);  // the control
  EXPECT_GT(std::fabs(share(equal(bitwise_and(mlx, array(1)), array(1))) - 0.5), error);
  // A third of a range of which 64 bits leave a quarter over.
  const array most = array(int64_t{3} << 61) + array(int64_t{3} << 61);  // 3 2^62, as an unsigned number
  const array drawn = random::integers(array(uint64_t{0}), view(most, uint64), {kDraws}, uint64, key);
  EXPECT_NEAR(share(less(drawn, array(uint64_t{1} << 62))), 1.0 / 3, error);
  EXPECT_TRUE(all(less(drawn, view(most, uint64))).item<bool>());
  const array small =
      random::integers(array({-3, 10}, Shape{2, 1}), array({4, 11}, Shape{2, 1}), {2, 70000}, int8, key);
  for (int k = -3; k < 4; ++k)
    EXPECT_NEAR(share(equal(take(small, 0, 0), array(k))), 1.0 / 7, 5 * std::sqrt(6.0 / 49 / 70000)) << k;
  EXPECT_TRUE(all(equal(take(small, 1, 0), array(10))).item<bool>());
  const array all_bytes = random::integers(0, 256, {kDraws}, uint8, key);
  EXPECT_EQ(max(all_bytes).item<int>(), 255);
  EXPECT_EQ(min(all_bytes).item<int>(), 0);
  EXPECT_EQ(fault_of([&] { random::integers(0, 2, {3}, float32); }), "integers: found float32, expected integers");
}

TEST(ArraysRandom, HalfOpenNumbersNeverReachTheirEnd) {
  const array key = random::key(2);
  for (const Dtype dtype : {bfloat16, float16, float32}) {
    for (const auto& [low, high] : {std::pair(100.0F, 101.0F), std::pair(-101.0F, -100.0F), std::pair(-1.0F, 0.0F)}) {
      const array most = array(high, dtype), drawn = random::half_open(low, high, {kDraws}, dtype, key);
      EXPECT_TRUE(all(less(drawn, most)).item<bool>());
      EXPECT_TRUE(all(greater_equal(drawn, array(low, dtype))).item<bool>());
    }
  }
  const array plain = random::uniform(100.0F, 101.0F, {kDraws}, bfloat16, key);  // the control
  EXPECT_TRUE(any(equal(plain, array(101.0F, bfloat16))).item<bool>());
}

TEST(ArraysRandom, NothingBesideWhatIsDrawnIsStored) {
  const auto peak = [](const ManyToMany& f) { return plan(f, {random::key(1)}).peak_bytes(); };
  const int64_t bytes = 2049 * 2049 * 4, little = 1 << 20;
  const auto sum_of = [](int terms) {
    return ManyToMany([terms](const std::vector<array>& in) {
      const array keys = random::split(in[0], terms);
      array total = random::normal({2049, 2049}, take(keys, 0, 0));
      for (int k = 1; k < terms; ++k) total = total + random::normal({2049, 2049}, take(keys, k, 0));
      return std::vector<array>{total};
    });
  };
  for (const int terms : {2, 9, 16, 40}) EXPECT_LT(peak(sum_of(terms)), bytes + little) << terms;
  EXPECT_LT(peak([](const std::vector<array>& in) {
              return std::vector<array>{random::integers(0, 1000, {2049, 2049}, int32, in[0])};
            }),
            bytes + little);
  EXPECT_LT(
      peak([](const std::vector<array>& in) { return std::vector<array>{random::permutation(2049 * 2049, in[0])}; }),
      2 * bytes + little);
  // The control: two results that are both kept.
  EXPECT_GT(peak([](const std::vector<array>& in) {
              return std::vector<array>{random::normal({2049, 2049}, in[0]), random::uniform({2049, 2049}, in[0])};
            }),
            bytes + little);
}

TEST(ArraysRandom, ProductsAreRoundedBeforeAMeanIsAdded) {
  const array key = random::key(3);
  const auto check = [](const array& whole, array product) {
    product.eval();
    EXPECT_EQ(floats(whole), floats(product + array(0.3F)));
  };
  check(random::normal({1000}, float32, 0.3F, 1.7F, key), random::normal({1000}, float32, 0.0F, 1.7F, key));
  check(random::laplace({1000}, float32, 0.3F, 1.7F, key), random::laplace({1000}, float32, 0.0F, 1.7F, key));
}

}  // namespace
}  // namespace lowtide
