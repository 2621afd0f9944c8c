#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "library/comparator.h"
#include "library/lanes.h"
#include "library_test_support.h"

namespace lowtide::engine::library_test {
namespace {

std::string simple(const std::string& type, const std::string& how) {
  return fmt::format(
      "  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  "
      "ROOT r = pred[] compare(a, b), {1}\n",
      type, how);
}

/// Tasks of unequal length: what a lane holds (a comparator's registers) has one user at a time.
TEST(Lanes, OneTaskOfALaneAtATime) {
  const Lanes lanes(100, 64);
  std::vector<std::atomic<int>> users(static_cast<size_t>(lanes.count));
  std::atomic<int> done = 0, met = 0;
  std::vector<std::byte> scratch(static_cast<size_t>(lanes.scratch_bytes()));
  ThreadPool pool(3);
  lanes.run(pool, scratch.data(), [&](int64_t task, std::byte* own, size_t lane) {
    met += users[lane]++ != 0;
    EXPECT_EQ(own, scratch.data() + lane * 64);
    std::this_thread::sleep_for(std::chrono::microseconds(task % 40 == 0 ? 5000 : 50));
    --users[lane];
    ++done;
  });
  EXPECT_EQ(met, 0);
  EXPECT_EQ(done, 100);
}

TEST(LibrarySort, OneArrayOfAnyTypeAlongAnyDimension) {
  for (const char* type : {"f32", "f64", "bf16", "f16", "s8", "s32", "s64", "u8", "u64", "pred", "f8e4m3fn", "s4"}) {
    const std::string t = type;
    for (const char* how : {"direction=LT", "direction=GT"}) {
      expect_as_defined(sort(t + "[70]", t + "[70]", 0, simple(t, how)), 0);
      expect_as_defined(sort(t + "[5,3000]", t + "[5,3000]", 1, simple(t, how)), 0);
      expect_as_defined(sort(t + "[2000,3]", t + "[2000,3]", 0, simple(t, how)), 0);
      expect_as_defined(sort(t + "[4,31,5]", t + "[4,31,5]", 1, simple(t, how)), 0);
    }
  }
  expect_as_defined(sort("f32[4,3000]", "f32[4,3000]", 1, simple("f32", "direction=GT, type=TOTALORDER")), 0);
  for (const char* shape : {"f32[0]", "f32[1]", "f32[3,0]", "f32[0,3]"}) {
    expect_as_defined(sort(shape, shape, 0, simple("f32", "direction=LT")), 0);
  }
}

TEST(LibrarySort, SeveralArraysInStep) {
  const std::string comparator =
      "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] "
      "parameter(2)\n  d = s32[] parameter(3)\n";
  for (const char* n : {"9", "2000"}) {
    const std::string a = fmt::format("f32[3,{}]", n), b = fmt::format("s32[3,{}]", n);
    const std::string result = "(" + a + ", " + b + ")";
    expect_as_defined(sort(a + ";" + b, result, 1, comparator + "  ROOT r = pred[] compare(a, b), direction=LT\n"), 0);
    expect_as_defined(sort(a + ";" + b, result, 1, comparator + "  ROOT r = pred[] compare(d, c), direction=LT\n"), 0);
    expect_as_defined(sort(a + ";" + b, result, 1,
                           comparator + "  x = pred[] compare(a, b), direction=LT\n  y = "
                                        "pred[] compare(a, b), direction=EQ\n"
                                        "  z = pred[] compare(c, d), direction=GT\n  w = "
                                        "pred[] and(y, z)\n  ROOT r = pred[] or(x, w)\n"),
                      0);
    // A comparator that contradicts itself still ends, with the definition's
    // result.
    expect_as_defined(sort(a + ";" + b, result, 1, comparator + "  ROOT r = pred[] compare(a, b), direction=LE\n"), 0);
    expect_as_defined(sort(a + ";" + b, result, 1, comparator + "  ROOT r = pred[] compare(a, a), direction=EQ\n"), 0);
  }
}

/// More lines than are sorted at once, in all layouts; NaN that a comparator leaves unordered; other arrays in step.
TEST(LibrarySort, ManyLinesTogether) {
  for (const char* type : {"f32", "bf16", "f16", "s8", "u32", "pred", "f64"}) {
    const std::string t = type;
    for (const std::string how : {"direction=LT", "direction=GT"}) {
      for (const int n : {2, 3, 17, 129}) {
        const std::string shape = fmt::format("{}[37,{}]", t, n), across = fmt::format("{}[{},37]", t, n);
        const std::string between = fmt::format("{}[3,{},7]", t, n);
        expect_as_defined(sort(shape, shape, 1, simple(t, how)), 0);
        expect_as_defined(sort(across, across, 0, simple(t, how)), 0);
        expect_as_defined(sort(between, between, 1, simple(t, how)), 0);
      }
    }
  }
  const std::string two =
      "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f64[] parameter(2)\n  d = f64[] parameter(3)\n";
  for (const std::string how : {"direction=LT", "direction=GT, type=TOTALORDER"})
    expect_as_defined(sort("f32[5,20,9];f64[5,20,9]", "(f32[5,20,9], f64[5,20,9])", 1,
                           two + "  ROOT r = pred[] compare(a, b), " + how + "\n"),
                      0);
  // The key is of another type than the array.
  expect_as_defined(sort("f32[40,30]", "f32[40,30]", 1,
                         "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  half = f32[] constant(0.5)\n"
                         "  x = pred[] compare(a, half), direction=GT\n  y = pred[] compare(b, half), direction=GT\n"
                         "  ROOT r = pred[] compare(x, y), direction=LT\n"),
                    0);
}

/// By the first array, where it is equal by the second, then by the third; written in both ways, with descending keys,
/// and with an equality that isn't that of the keys.
TEST(LibrarySort, SeveralKeys) {
  const std::string elements =
      "  a = s8[] parameter(0)\n  b = s8[] parameter(1)\n  c = f64[] parameter(2)\n  d = f64[] parameter(3)\n"
      "  e = s32[] parameter(4)\n  f = s32[] parameter(5)\n  l1 = pred[] compare(a, b), direction=LT\n"
      "  q1 = pred[] compare(b, a), direction=EQ\n  l3 = pred[] compare(e, f), direction=LT\n";
  const std::string second =
      "  l2 = pred[] compare(c, d), direction=GT, type=TOTALORDER\n"
      "  q2 = pred[] compare(c, d), direction=EQ, type=TOTALORDER\n";
  const std::string other =
      "  l2 = pred[] compare(c, d), direction=GT\n  q2 = pred[] compare(c, d), direction=EQ, type=TOTALORDER\n";
  const std::string by_or =
      "  t2 = pred[] and(q2, l3)\n  o2 = pred[] or(t2, l2)\n  t1 = pred[] and(o2, q1)\n  ROOT r = pred[] or(l1, t1)\n";
  const std::string by_select = "  s2 = pred[] select(q2, l3, l2)\n  ROOT r = pred[] select(q1, s2, l1)\n";
  for (const char* extents : {"[3,50]", "[2,3000]", "[70000]"}) {
    const std::string of = extents;
    const std::string arrays = fmt::format("s8{0};f64{0};s32{0}", of);
    const std::string result = fmt::format("(s8{0}, f64{0}, s32{0})", of);
    const int d = of[1] == '7' ? 0 : 1;
    for (const std::string& keys : {second, other}) {
      for (const std::string& joined : {by_or, by_select})
        expect_as_defined(sort(arrays, result, d, elements + keys + joined), 0);
    }
  }
}

TEST(LibrarySort, RecognisesKeys) {
  const auto count = [](const std::string& comparator) {
    const auto module = read(sort("f32[9];s32[9]", "(f32[9], s32[9])", 0,
                                  "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] parameter(2)\n"
                                  "  d = s32[] parameter(3)\n  x = pred[] compare(a, b), direction=LT\n"
                                  "  z = pred[] compare(c, d), direction=GT\n" +
                                      comparator));
    return sort_keys(*module->entry->root->called[0]).size();
  };
  EXPECT_EQ(count("  ROOT r = pred[] compare(a, b), direction=LT\n"), 1U);
  const std::string equal = "  y = pred[] compare(a, b), direction=EQ\n";
  EXPECT_EQ(count(equal + "  w = pred[] and(y, z)\n  ROOT r = pred[] or(x, w)\n"), 2U);
  EXPECT_EQ(count(equal + "  ROOT r = pred[] select(y, z, x)\n"), 2U);
  EXPECT_EQ(count(equal + "  w = pred[] or(y, z)\n  ROOT r = pred[] and(x, w)\n"), 0U);
  EXPECT_EQ(count("  y = pred[] compare(c, d), direction=EQ\n  ROOT r = pred[] select(y, z, x)\n"), 0U);
  EXPECT_EQ(count("  y = pred[] compare(a, b), direction=EQ, type=TOTALORDER\n  ROOT r = pred[] select(y, z, x)\n"),
            0U);
}

constexpr const char* kCanonical = R"(  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  zero = f32[] constant(0)
  nan = f32[] constant(nan)
  az = pred[] compare(a, zero), direction=EQ
  a1 = f32[] select(az, zero, a)
  an = pred[] compare(a, a), direction=NE
  a2 = f32[] select(an, nan, a1)
  bz = pred[] compare(b, zero), direction=EQ
  b1 = f32[] select(bz, zero, b)
  bn = pred[] compare(b, b), direction=NE
  b2 = f32[] select(bn, nan, b1)
  ROOT r = pred[] compare(a2, b2), direction=LT, type=TOTALORDER
)";

TEST(LibrarySort, KeysThatAreFunctions) {
  expect_as_defined(sort("f32[3,40];s32[3,40]", "(f32[3,40], s32[3,40])", 1, kCanonical), 0);
  expect_as_defined(sort("f32[3,4000];s32[3,4000]", "(f32[3,4000], s32[3,4000])", 1, kCanonical), 0);
}

TEST(LibrarySort, NanAndBothZeros) {
  const std::string partial =
      "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] "
      "parameter(2)\n  d = s32[] parameter(3)\n"
      "  ROOT r = pred[] compare(a, b), direction=LT\n";
  for (const Dims& dims : {Dims{2, 1500}, Dims{100, 30}}) {  // one line after the other, and many together
    for (const std::string& comparator : {std::string(kCanonical), partial}) {
      const std::string extents = fmt::format("[{},{}]", dims[0], dims[1]);
      const auto module =
          read(sort("f32" + extents + ";s32" + extents, "(f32" + extents + ", s32" + extents + ")", 1, comparator));
      auto keys = std::make_shared<Literal>(Shape::array(ElementType::kF32, dims));
      auto places = std::make_shared<Literal>(Shape::array(ElementType::kS32, dims));
      const float inf = INFINITY;
      const float some[] = {0.0f, -0.0f, 1.0f, -1.0f, inf, -inf, NAN, -NAN, 1e-40f};
      for (size_t i = 0; i < 3000; ++i) {
        // NaN in the second half only: both ways are taken
        keys->data<float>()[i] = some[i * 2654435761u % (i < 1500 ? 6 : 9)];
        places->data<int32_t>()[i] = static_cast<int32_t>(i);
      }
      const std::vector<Value> arguments = {keys, places};
      const auto expected = interpret(*module, arguments);
      ASSERT_TRUE(expected.ok());
      const auto got = run(*module, arguments, 2, false);
      std::vector<Value> leaves;
      for (const Value& value : *expected) flatten(value, leaves);
      for (size_t k = 0; k < 2; ++k)
        EXPECT_EQ(std::memcmp(leaves[k]->bytes().data(), got[k].data(), got[k].size()), 0) << k << extents;
    }
  }
}

/// A function is only known to join zeros and NaN if it turns them into the ones that come after all others.
TEST(LibrarySort, RecognisesFloatsOfOneZeroAndOneNan) {
  const auto joins = [](std::string_view from, std::string_view to) {
    std::string comparator = kCanonical;
    for (size_t at = 0; (at = comparator.find(from, at)) != std::string::npos; at += to.size())
      comparator.replace(at, from.size(), to);
    const auto module = read(sort("f32[9];s32[9]", "(f32[9], s32[9])", 0, comparator));
    const std::vector<SortKey> keys = sort_keys(*module->entry->root->called[0]);
    return keys.size() == 1 && keys[0].function && keys[0].joins_equals;
  };
  EXPECT_TRUE(joins("zero = f32[] constant(0)", "zero = f32[] constant(0)"));
  EXPECT_FALSE(joins("zero = f32[] constant(0)", "zero = f32[] constant(-0)"));
  EXPECT_FALSE(joins("zero = f32[] constant(0)", "zero = f32[] constant(1)"));
  EXPECT_FALSE(joins("constant(nan)", "constant(inf)"));
  EXPECT_FALSE(joins("constant(nan)", "constant(-nan)"));
  EXPECT_FALSE(joins("direction=NE", "direction=LE"));
  EXPECT_FALSE(joins("select(an, nan, a1)", "select(an, a1, nan)"));
}

/// One array in place: f makes both zeros equal, and every NaN.
TEST(LibrarySort, WhatTheKeyMergesKeepsItsOrder) {
  std::string canonical = kCanonical;
  const size_t third = canonical.find("  c = s32[]"), zero = canonical.find("  zero =");
  canonical.erase(third, zero - third);
  for (const size_t kinds : {size_t{6}, size_t{8}, size_t{1500}}) {
    for (const char* shape : {"f32[3,1500]", "f32[70000]"}) {
      const auto module = read(sort(shape, shape, shape[4] == '3' ? 1 : 0, canonical));
      auto keys = std::make_shared<Literal>(module->entry->root->shape);
      const auto size = static_cast<size_t>(keys->size());
      const float some[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, -NAN};
      for (size_t i = 0; i < size; ++i) {
        const size_t k = i * 2654435761u % kinds;
        keys->data<float>()[i] = k < 8 ? some[k] : std::bit_cast<float>(static_cast<uint32_t>(k * 0x9E3779B9u));
      }
      const std::vector<Value> arguments = {keys};
      const auto expected = interpret(*module, arguments);
      ASSERT_TRUE(expected.ok());
      for (const bool in_place : {false, true}) {
        const auto got = run(*module, arguments, 3, in_place);
        EXPECT_EQ(std::memcmp((*expected)[0]->bytes().data(), got[0].data(), got[0].size()), 0) << shape << kinds;
      }
      auto scratch = library_routine(*module->entry->root)->scratch_bytes();
      EXPECT_EQ(scratch, 0) << "room beside the array";
    }
  }
}

/// An argsort of one array, in place: equal keys, both zeros and every NaN keep their order, and no room is needed.
TEST(LibrarySort, PlacesWithoutScratch) {
  const std::string partial =
      "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n"
      "  ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER\n";
  std::string down = kCanonical;
  down.replace(down.rfind("LT"), 2, "GT");
  for (const std::string& comparator : {std::string(kCanonical), down, partial}) {
    for (const size_t kinds : {size_t{2}, size_t{9}, size_t{5000}}) {
      for (const char* extents : {"[3,1500]", "[140000]"}) {
        std::string text = sort(fmt::format("f32{0};s32{0}", extents), fmt::format("(f32{0}, s32{0})", extents),
                                extents[1] == '3', comparator);
        const auto parameters = read(text);
        const size_t second = text.rfind("parameter(1)");
        text.replace(second, 12, extents[1] == '3' ? "iota(), iota_dimension=1" : "iota(), iota_dimension=0");
        const auto module = read(text);
        const Instruction& by_iota = *module->entry->root;
        auto keys = std::make_shared<Literal>(by_iota.operand(0).shape);
        auto places = std::make_shared<Literal>(by_iota.operand(1).shape);
        const float some[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, -NAN, 1e-40f};
        const int64_t count = by_iota.operand(0).shape.dims.back();
        for (size_t i = 0; i < static_cast<size_t>(keys->size()); ++i) {
          const size_t k = i * 2654435761u % kinds;
          keys->data<float>()[i] = k < 9 ? some[k] : std::bit_cast<float>(static_cast<uint32_t>(k * 0x9E3779B9u));
          places->data<int32_t>()[i] = static_cast<int32_t>(static_cast<int64_t>(i) % count);
        }
        const std::vector<Value> arguments = {keys, places};
        const auto expected = interpret(*parameters, arguments);
        ASSERT_TRUE(expected.ok());
        std::vector<Value> leaves;
        for (const Value& value : *expected) flatten(value, leaves);
        for (const bool in_place : {false, true}) {
          const auto got = run(*module, arguments, 3, in_place);
          for (size_t k = 0; k < 2; ++k)
            EXPECT_EQ(std::memcmp(leaves[k]->bytes().data(), got[k].data(), got[k].size()), 0) << k << extents << kinds;
        }
        EXPECT_EQ(library_routine(by_iota)->scratch_bytes(), 0);
        EXPECT_GT(library_routine(*parameters->entry->root)->scratch_bytes(), 0) << "the control";
      }
    }
  }
}

/// A function that changes most values isn't taken for one that tidies a few.
TEST(LibrarySort, KeyThatTurnsTheOrder) {
  const std::string negated =
      "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  zero = f32[] constant(-1)\n"
      "  x = f32[] multiply(a, zero)\n  y = f32[] multiply(b, zero)\n"
      "  ROOT r = pred[] compare(x, y), direction=LT, type=TOTALORDER\n";
  expect_as_defined(sort("f32[2,3000]", "f32[2,3000]", 1, negated), 0);
}

TEST(LibraryTopK, AsDefined) {
  for (const char* type : {"f32", "bf16", "s32", "u8", "f64", "s64"}) {
    for (const char* largest : {"true", "false"}) {
      for (const int k : {0, 1, 5, 40}) {
        expect_as_defined(fmt::format("HloModule m\nENTRY e {{\n  a = {0}[3,40] "
                                      "parameter(0)\n  ROOT t = ({0}[3,{1}], s32[3,{1}]) "
                                      "topk(a), k={1}, largest={2}\n}}\n",
                                      type, k, largest),
                          0);
      }
    }
  }
  expect_as_defined(
      "HloModule m\nENTRY e {\n  a = f32[3,400] parameter(0)\n  "
      "ROOT t = (f32[3,7], s32[3,7]) custom-call(a), "
      "custom_call_target=\"TopK\"\n}\n",
      0);
}

}  // namespace
}  // namespace lowtide::engine::library_test
