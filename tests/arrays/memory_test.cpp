// What arrays take: plans found again, inputs that die, random numbers that nobody stores, limits that are kept.
#include <algorithm>
#include <thread>

#include "support.h"

namespace lowtide {
namespace {

/// Bytes that computing `a` takes beyond what stands.
int64_t peak_of(array a) {
  reset_peak_memory();
  const auto before = static_cast<int64_t>(get_active_memory());
  a.eval();
  return std::max<int64_t>(0, static_cast<int64_t>(get_peak_memory()) - before);
}

TEST(ArraysMemory, RandomNumbersTakeTheirOutput) {
  const array key = random::key(3);
  const Shape shape = {257, 1031};  // an odd number
  const auto expect_output_alone = [&](const char* name, const array& a, int64_t beside = 0) {
    const auto bytes = static_cast<int64_t>(a.nbytes());
    const int64_t peak = peak_of(a);
    EXPECT_GE(peak, bytes) << name;
    EXPECT_LE(peak, bytes + beside + 1024) << name;
  };
  for (const Dtype dtype : {bfloat16, float16, float32}) {
    expect_output_alone("uniform", random::uniform(shape, dtype, key));
    expect_output_alone("normal", random::normal(shape, dtype, key));
    expect_output_alone("laplace", random::laplace(shape, dtype, key));
    expect_output_alone("gumbel", random::gumbel(shape, dtype, key));
    expect_output_alone("truncated_normal", random::truncated_normal(array(-1.0F), array(2.0F), shape, dtype, key));
  }
  expect_output_alone("randint", random::randint(0, 100, shape, int32, key));
  expect_output_alone("bernoulli", random::bernoulli(0.25F, shape, key));
  expect_output_alone("sum", sum(random::uniform(shape, float32, key)), 16 << 10);
  const array x = random::normal(shape, bfloat16, random::key(4));
  eval(x);
  expect_output_alone("noise", x + array(0.1F, bfloat16) * random::normal(shape, bfloat16, key));
  expect_output_alone("dropout",
                      where(random::bernoulli(0.9F, shape, key), x / array(0.9F, bfloat16), array(0.0F, bfloat16)));
  const auto rows = vmap(OneToOne([](const array& k) { return random::normal({1031}, bfloat16, k); }));
  expect_output_alone("vmapped", rows(random::split(key, 100)));
  // More than one kernel can compute: each array is computed at its place in the result.
  std::vector<array> parts;
  const array keys = random::split(key, 16);
  for (int k = 0; k < 16; ++k) parts.push_back(random::normal(shape, bfloat16, take(keys, k, 0)));
  expect_output_alone("stacked", stack(parts), 1 << 20);
  // The control: a value that must be stored is seen.
  EXPECT_GT(peak_of(argsort(random::uniform({100003}, float32, key))), 100003 * 4 + 1024);
}

TEST(ArraysMemory, ProductsWithOneHotRowsAreGathers) {
  const array table = random::normal({256, 300}, float32, random::key(1));
  const array ids = random::randint(0, 256, {500}, uint32, random::key(2));
  eval({table, ids});
  const auto rows_by = [&](int first) {
    const array hot = equal(expand_dims(ids, 1), arange(first, first + 256, uint32));
    return matmul(astype(hot, float32), table);
  };
  const array rows = rows_by(0);
  const auto bytes = static_cast<int64_t>(rows.nbytes());
  EXPECT_LE(peak_of(rows), bytes + 1024);
  EXPECT_TRUE(array_equal(rows, take(table, ids, 0)).item<bool>());
  EXPECT_EQ(rows_by(256).shape(), rows.shape());
  EXPECT_EQ(max(abs(rows_by(256))).item<float>(), 0.0F);  // no id is that large
}

TEST(ArraysMemory, ADyingInputGivesItsBuffer) {
  array x = ones({1000, 1000});
  eval(x);
  const void* const place = x.data<float>();
  x = x * 2.0F + 1.0F;
  EXPECT_LE(peak_of(x), 1024);
  EXPECT_EQ(x.data<float>(), place);
  // The control: whoever holds the old one keeps it.
  const array old = x;
  x = x * 2.0F;
  EXPECT_GE(peak_of(x), 4000000);
  EXPECT_EQ(old.data<float>()[5], 3.0F);
  EXPECT_EQ(x.data<float>()[5], 6.0F);
}

TEST(ArraysMemory, ViewsShare) {
  array x = ones({1000, 1000});
  eval(x);
  array y = reshape(x, {10, -1});
  EXPECT_EQ(peak_of(y), 0);
  EXPECT_EQ(y.data<float>(), x.data<float>());
  const array z = y + 1.0F;  // y's bytes are x's: nobody may write them
  y = array(0);
  eval(z);
  EXPECT_EQ(x.data<float>()[7], 1.0F);
}

TEST(ArraysMemory, CountsComeBack) {
  synchronize();
  const size_t before = get_active_memory();
  {
    array x = ones({1000, 100});
    eval(x);
    EXPECT_EQ(get_active_memory(), before + 400000);
  }
  EXPECT_EQ(get_active_memory(), before);
  const size_t usual = set_cache_limit(0);
  clear_cache();
  EXPECT_EQ(get_cache_memory(), 0U);
  set_cache_limit(usual);
}

TEST(ArraysMemory, CachedBlocksServeAgainAndHardlyRaiseThePeak) {
  constexpr size_t kLarge = 300 << 20, kOther = 150 << 20;  // bytes: together more than any other test has live
  const auto make = [](size_t bytes) { return full({static_cast<int>(bytes / 4)}, 1.0F); };
  const auto made = [&](size_t bytes) {
    const array a = make(bytes);
    eval(a);
    return a.data<float>();
  };
  clear_cache();
  const size_t before = get_active_memory();
  const float* const first = made(kLarge);
  EXPECT_GE(get_cache_memory(), kLarge);
  EXPECT_EQ(made(kLarge), first);
  made(kOther);  // no cached block has its size: the larger one goes, since both together were never live
  EXPECT_LT(get_cache_memory(), kLarge);
  {
    const array large = make(kLarge), other = make(kOther);
    eval(large, other);  // now they were
  }
  EXPECT_GE(get_cache_memory(), kLarge + kOther);
  const size_t usual = set_cache_limit(kOther);
  EXPECT_LE(get_cache_memory(), kOther);
  made(kLarge);
  EXPECT_LE(get_cache_memory(), kOther);  // a block above the limit isn't kept
  EXPECT_EQ(get_active_memory(), before);
  set_cache_limit(usual);
  clear_cache();
}

TEST(ArraysMemory, EqualGraphsHaveOnePlan) {
  const auto step = [](const array& x, float by) { return sum(exp(x * by) - 1.0F); };
  const array x = ones({77, 3}), y = zeros({77, 3}), other = ones({78, 3});
  eval(x, y, other);
  step(x, 2).item<float>();
  const PlanStats before = plan_stats();
  EXPECT_NEAR(step(y, 3).item<float>(), 0, 1e-6);
  EXPECT_EQ(plan_stats().made, before.made);
  EXPECT_EQ(plan_stats().found, before.found + 1);
  step(other, 2).item<float>();  // the control: another shape is another program
  EXPECT_EQ(plan_stats().made, before.made + 1);
}

/// How many kernels were compiled for so many shapes of a graph.
int64_t kernels_for(int first, int shapes, const std::function<array(const array&, const array&)>& graph) {
  const int64_t before = plan_stats().kernels;
  for (int k = first; k < first + shapes; ++k) {
    const Shape shape{17 + k % 10, 1000 + 3 * (k / 10)};
    const array a = full(shape, 0.5f), b = full(shape, 2.0f);
    eval({a, b});
    const array found = graph(a, b);
    eval({found});
    const float expected = 1.5f * static_cast<float>(shape[1]);  // exact, in any order
    EXPECT_TRUE(
        std::all_of(found.data<float>(), found.data<float>() + shape[0], [&](float x) { return x == expected; }))
        << shape[0] << " x " << shape[1];
  }
  return plan_stats().kernels - before;
}

TEST(ArraysMemory, ANewShapeOfAKnownGraphCompilesNothing) {
  const auto sums = [](const array& a, const array& b) { return sum(a * b + a, 1); };
  EXPECT_GT(kernels_for(0, 60, sums), 0);
  // Rows of a few vectors and nests of a few elements have kernels of their own; where those end, the processor's
  // vectors decide: one such border may lie between these shapes, with two kernels at most.
  EXPECT_LE(kernels_for(60, 100, sums), 2);
  // The control: another graph, which has kernels of its own.
  EXPECT_GT(kernels_for(60, 1, [](const array& a, const array& b) { return sum(b - a, 1); }), 0);
}

TEST(ArraysMemory, WhatGrowsFromEvaluationToEvaluationStaysShort) {
  array total = zeros({100});
  float each = 0;
  for (int k = 0; k < 6; ++k) {
    each += static_cast<float>(k);
    total = total + static_cast<float>(k);
    EXPECT_EQ(sum(total).item<float>(), 100.0F * each);  // never total itself
  }
  const PlanStats before = plan_stats();
  for (int k = 6; k < 30; ++k) {
    total = total + static_cast<float>(k);
    sum(total).item<float>();
  }
  EXPECT_EQ(plan_stats().made, before.made);
}

TEST(ArraysMemory, ALimitIsKeptOrRefused) {
  array x = random::normal({256, 1024}, float32, random::key(1));
  eval(x);
  const auto work = [](const array& a) { return matmul(a, transpose(exp(a))); };
  const array expected = work(x);
  eval(expected);
  const size_t usual = set_memory_limit(get_active_memory() + 1000);
  array y = work(x) + 1.0F;
  try {
    y.eval();
    ADD_FAILURE() << "the limit wasn't noticed";
  } catch (const limit_error& e) {
    EXPECT_NE(std::string(e.what()).find("no executor needs less than"), std::string::npos) << e.what();
    EXPECT_GT(e.needed(), e.limit());
  }
  EXPECT_TRUE(x.is_available());
  set_memory_limit(usual);
  EXPECT_TRUE(allclose(y, expected + 1.0F, 1e-3, 1e-2).item<bool>());  // everything can still be used
}

TEST(ArraysMemory, APlanSaysWhatItTakes) {
  const Plan p =
      plan([](const std::vector<array>& in) { return std::vector<array>{sum(in[0] * in[0])}; }, {zeros({1000, 1000})});
  EXPECT_GE(p.peak_bytes(), 4000004);
  EXPECT_LE(p.peak_bytes(), 4000004 + 65536);
  EXPECT_GE(p.floor_of_any()->bytes, 4000004);
}

TEST(ArraysMemory, WorkGoesOnBesideItsCaller) {
  const Stream side = new_stream();
  array x = ones({500, 500}), y = x, z = x;
  for (int k = 0; k < 3; ++k) y = matmul(y, x, side) / array(500.0F);
  async_eval(y);
  z = y + 1.0F;
  EXPECT_EQ(sum(z).item<float>(), 2.0F * 250000);
  synchronize(side);
  EXPECT_TRUE(y.is_available());
}

TEST(ArraysMemory, ThreadsHaveStreamsOfTheirOwn) {
  std::vector<std::thread> threads;
  std::vector<float> found(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t, &found] {
      set_default_stream(new_stream());
      array x = full({64, 64}, static_cast<float>(t));
      for (int k = 0; k < 5; ++k) {
        x = x + 1.0F;
        x.eval();
      }
      found[t] = sum(x).item<float>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 8; ++t) EXPECT_EQ(found[t], 4096.0F * static_cast<float>(t + 5));
}

TEST(ArraysMemory, BytesOfTheCallersAreNotCopied) {
  std::vector<float> mine = {1, 2, 3};
  bool deleted = false;
  {
    const array a(mine.data(), {3}, float32, [&](void*) { deleted = true; });
    EXPECT_EQ(a.data<float>(), mine.data());
    EXPECT_EQ(sum(a).item<float>(), 6.0F);
  }
  EXPECT_TRUE(deleted);
}

}  // namespace
}  // namespace lowtide
