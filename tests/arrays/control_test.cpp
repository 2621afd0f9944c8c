// Loops and branches, beside what they unroll to.
#include "support.h"

namespace lowtide {
namespace {

array numbers(const Shape& shape, uint64_t seed) {
  return astype(random::uniform(0.1F, 1.0F, shape, float32, random::key(seed)), float64);
}
bool same(const array& a, const array& b) { return allclose(a, b, 1e-9, 1e-12).item<bool>(); }

std::pair<std::vector<array>, std::vector<array>> cell(const array& w, const std::vector<array>& carry,
                                                       const std::vector<array>& x) {
  const array next = tanh(matmul(carry[0], w) + x[0]);
  return {{next, carry[1] + 1}, {sum(next * next)}};
}
std::vector<array> rolled(const array& w, const array& h, const array& xs, bool reverse = false) {
  const auto [carry, ys] =
      scan([&](const auto& c, const auto& x) { return cell(w, c, x); }, {h, array(0)}, {xs}, -1, reverse);
  return {carry[0], ys[0], carry[1]};
}
std::vector<array> unrolled(const array& w, const array& h, const array& xs, bool reverse = false) {
  std::vector<array> carry = {h, array(0)}, ys(static_cast<size_t>(xs.shape(0)), array(0));
  for (int t = 0; t < xs.shape(0); ++t) {
    const int at = reverse ? static_cast<int>(xs.shape(0)) - 1 - t : t;
    auto [next, y] = cell(w, carry, {take(xs, at, 0)});
    carry = next;
    ys[at] = y[0];
  }
  return {carry[0], stack(ys), carry[1]};
}

TEST(ArraysControl, AScanIsWhatItUnrollsTo) {
  const array w = numbers({3, 3}, 1), h = numbers({2, 3}, 2), xs = numbers({4, 2, 3}, 3);
  for (const bool reverse : {false, true}) {
    const auto a = rolled(w, h, xs, reverse), b = unrolled(w, h, xs, reverse);
    EXPECT_TRUE(same(a[0], b[0]) && same(a[1], b[1]));
    EXPECT_EQ(a[2].item<int>(), 4);
  }
  const auto counted =
      scan([](const auto& c, const auto&) { return std::pair(std::vector<array>{c[0] * 2}, std::vector<array>{c[0]}); },
           {array(1)}, {}, 5);
  EXPECT_EQ(counted.first[0].item<int>(), 32);
  EXPECT_EQ(ints(counted.second[0]), (std::vector<int>{1, 2, 4, 8, 16}));
}

TEST(ArraysControl, ItsDerivativesAndBatchesToo) {
  const array w = numbers({3, 3}, 1), h = numbers({2, 3}, 2), xs = numbers({4, 2, 3}, 3);
  const auto loss = [](bool loop) {
    return ManyToOne([loop](const std::vector<array>& in) {
      const auto made = loop ? rolled(in[0], in[1], in[2]) : unrolled(in[0], in[1], in[2]);
      return sum(made[0]) + sum(made[1] * made[1]);
    });
  };
  const auto a = grad(loss(true), {0, 1, 2})({w, h, xs}), b = grad(loss(false), {0, 1, 2})({w, h, xs});
  for (size_t k = 0; k < 3; ++k) EXPECT_TRUE(same(a[k], b[k])) << k;
  // Twice, through the loop that the first derivative is.
  const auto second = [&](bool loop) {
    return grad(ManyToOne([=](const std::vector<array>& in) { return sum(square(grad(loss(loop))(in)[0])); }),
                0)({w, h, xs});
  };
  EXPECT_TRUE(same(second(true)[0], second(false)[0]));
  const auto forwards = [&](bool loop) {
    return jvp([=](const std::vector<array>& in) { return std::vector<array>{loss(loop)(in)}; }, {w, h, xs},
               {ones_like(w), h, xs})
        .second[0];
  };
  EXPECT_TRUE(same(forwards(true), forwards(false)));
  const array many = numbers({2, 4, 2, 3}, 5);
  const auto batch = [&](bool loop) { return vmap(grad(loss(loop), {0, 2}), {-1, -1, 0})({w, h, many}); };
  const auto c = batch(true), d = batch(false);
  EXPECT_TRUE(same(c[0], d[0]) && same(c[1], d[1]));
}

TEST(ArraysControl, AScanKeepsNoCarriesThatNobodyReads) {
  const array h = zeros({1000, 100}), xs = ones({50});
  const auto final_of = [&](const std::vector<array>& in) {
    return scan([](const auto& c,
                   const auto& x) { return std::pair(std::vector<array>{sin(c[0]) + x[0]}, std::vector<array>{}); },
                {in[0]}, {in[1]})
        .first;
  };
  const int64_t one = 400000;
  EXPECT_LE(plan(final_of, {h, xs}).peak_bytes(), 3 * one + 4096);
  // The control: carries that somebody reads are kept.
  const auto all_of = [&](const std::vector<array>& in) {
    return scan([](const auto& c, const auto& x) { return std::pair(std::vector<array>{sin(c[0]) + x[0]}, c); },
                {in[0]}, {in[1]})
        .second;
  };
  EXPECT_GE(plan(all_of, {h, xs}).peak_bytes(), 50 * one);
}

TEST(ArraysControl, WhileRunsUntilAllAreDone) {
  const auto collatz = [](const array& n) {
    return while_loop([](const std::vector<array>& s) { return s[0] > 1; },
                      [](const std::vector<array>& s) {
                        return std::vector<array>{where(s[0] % 2 == 0, floor_divide(s[0], array(2)), s[0] * 3 + 1),
                                                  s[1] + 1};
                      },
                      {n, array(0)})[1];
  };
  EXPECT_EQ(collatz(array(27)).item<int>(), 111);
  EXPECT_EQ(ints(vmap(OneToOne(collatz))(array({1, 6, 27}))), (std::vector<int>{0, 8, 111}));
  const auto loop = [](const array& x) {
    return while_loop([](const std::vector<array>& s) { return sum(s[0]) < 100.0F; },
                      [](const std::vector<array>& s) { return std::vector<array>{s[0] * 2.0F}; }, {x})[0];
  };
  EXPECT_NE(fault_of([&] {
              grad(OneToOne([&](const array& x) { return sum(loop(x)); }))(array({1.0F}));
            }).find("scan has one"),
            std::string::npos);
  EXPECT_EQ(fault_of([] {
              while_loop([](const std::vector<array>& s) { return s[0] > 1; },
                         [](const std::vector<array>& s) { return std::vector<array>{s[0] * 2.0F}; }, {array(1)});
            }),
            "while_loop: found carry 0 of float32 and shape (), expected int32 and ()");
}

TEST(ArraysControl, BranchesAreChosen) {
  const array held = numbers({3}, 4);
  const auto f = [&](const array& p, const array& x) {
    return cond(
        p, [&](const std::vector<array>& in) { return std::vector<array>{in[0] * held}; },
        [](const std::vector<array>& in) { return std::vector<array>{sin(in[0])}; }, {x})[0];
  };
  const array x = numbers({3}, 5), yes = array(true), no = array(false);
  EXPECT_TRUE(same(f(yes, x), x * held) && same(f(no, x), sin(x)));
  const auto slope = [&](const array& p) { return grad(OneToOne([&](const array& a) { return sum(f(p, a)); })); };
  EXPECT_TRUE(same(slope(yes)(x), held) && same(slope(no)(x), cos(x)));
  const array xs = numbers({2, 3}, 6);
  const auto both = vmap(std::function<array(const array&, const array&)>(f));
  EXPECT_TRUE(same(both(array({true, false}), xs), stack({take(xs, 0, 0) * held, sin(take(xs, 1, 0))})));
  EXPECT_TRUE(same(vmap(OneToOne([&](const array& a) { return f(no, a); }))(xs), sin(xs)));
}

}  // namespace
}  // namespace lowtide
