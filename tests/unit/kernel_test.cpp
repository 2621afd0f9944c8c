// Compiled kernels against execution of the same nests by definition.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "codegen/kernel.h"
#include "codegen/kernel_plan.h"

#include "nest/legalise.h"
#include "ops/execute.h"
#include "random_nest.h"

namespace lowtide::engine {
namespace {

using Buffers = std::vector<std::vector<std::byte>>;

std::vector<void*> addresses(Buffers& buffers) {
  std::vector<void*> list;
  for (auto& buffer : buffers) list.push_back(buffer.data());
  return list;
}

/// Pieces in order, each cut at a granule somewhere in its middle.
void run(const Kernel& kernel, Buffers& buffers) {
  std::vector<void*> at = addresses(buffers);
  std::vector<int64_t> given = kernel.given;
  at.push_back(given.data());
  for (size_t i = 0; i < kernel.pieces.size(); ++i) {
    const KernelPiece& piece = kernel.pieces[i];
    const int64_t middle = piece.sequential ? 0 : piece.extent / 2 / piece.granule * piece.granule;
    if (middle > 0) kernel.run(at.data(), static_cast<int64_t>(i), 0, middle);
    if (middle < piece.extent) kernel.run(at.data(), static_cast<int64_t>(i), middle, piece.extent);
  }
}

/// Floats to 1e-5 of the largest, all else exactly; empty if equal.
std::string difference(const Nest& nest, const Buffers& a, const Buffers& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const ElementType type = nest.buffers[i].type;
    const auto floats_agree = [&]<class T>() {
      for (size_t at = 0; at < a[i].size(); at += sizeof(T)) {
        T x, y;
        std::memcpy(&x, a[i].data() + at, sizeof(T));
        std::memcpy(&y, b[i].data() + at, sizeof(T));
        if (!(x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 1e-5 * (1 + std::fabs(y))))
          return false;
      }
      return true;
    };
    const bool agree = type == ElementType::kF32   ? floats_agree.operator()<float>()
                       : type == ElementType::kF64 ? floats_agree.operator()<double>()
                                                   : a[i] == b[i];
    if (!agree) return "buffer " + std::to_string(i) + " of type " + std::string(type_name(type));
  }
  return {};
}

std::string compiled_differs(const RandomNest& random, Isa isa, bool any_shape) {
  Buffers expected = random.buffers, found = random.buffers;
  execute(random.nest, addresses(expected));
  auto kernels = compile_kernels({&random.nest, 1}, {.isa = isa, .any_shape = any_shape, .use_cache = false});
  if (!kernels.ok()) return kernels.status().message();
  run((*kernels)[0], found);
  return difference(random.nest, found, expected);
}

bool has_avx512() { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"); }

class RandomNests : public testing::TestWithParam<Isa> {};

TEST_P(RandomNests, AreExecutedAsDefined) {
  if (GetParam() == Isa::kAvx512 && !has_avx512()) GTEST_SKIP();
  const char* first = std::getenv("LOWTIDE_TEST_SEED");
  const char* count = std::getenv("LOWTIDE_TEST_COUNT");
  const uint64_t start = first ? std::strtoull(first, nullptr, 10) : 1;
  const uint64_t end = start + (count ? std::strtoull(count, nullptr, 10) : 25);
  for (uint64_t seed = start; seed < end; ++seed) {
    const RandomNest random = random_nest(seed);
    ASSERT_EQ(check_plain(random.nest), "") << "seed " << seed;
    for (const bool any_shape : {false, true}) {
      EXPECT_EQ(compiled_differs(random, GetParam(), any_shape), "")
          << "seed " << seed << " any shape " << any_shape << "\n"
          << to_text(random.nest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, RandomNests, testing::Values(Isa::kAvx512, Isa::kAvx2),
                         [](const auto& info) { return info.param == Isa::kAvx2 ? "avx2" : "avx512"; });

// The control: what compares must see one wrong element.
TEST(RandomNests, ComparisonSeesAWrongElement) {
  const RandomNest random = random_nest(1);
  Buffers changed = random.buffers;
  for (std::byte& byte : changed.back()) byte ^= std::byte{0x55};
  EXPECT_NE(difference(random.nest, changed, random.buffers), "");
}

/// y[j] = sum over k < terms of x[k] * m[k, j], in f32.
Nest product_sum(int64_t terms, int64_t columns) {
  NestBuilder sum;
  const NodeId a = sum.argument(ElementType::kF32), b = sum.argument(ElementType::kF32);
  const NodeId both = sum.operation(Opcode::kAdd, ElementType::kF32, {a, b});
  const auto combine = std::make_shared<const Function>(sum.take_function(std::array{both}));
  NestBuilder nest;
  const int32_t x = nest.add_buffer(ElementType::kF32, terms);
  const int32_t m = nest.add_buffer(ElementType::kF32, terms * columns);
  const int32_t y = nest.add_buffer(ElementType::kF32, columns);
  const int32_t across = nest.begin_parallel(columns);
  const Affine j = nest.index_of(across);
  const NodeId zero = nest.number(ElementType::kF32, 0), neutral = nest.number(ElementType::kF32, -0.0);
  const int32_t along = nest.begin_reduce(terms, std::array{zero}, combine, std::array{neutral});
  const Affine k = nest.index_of(along);
  const NodeId left = nest.load(x, k), right = nest.load(m, nest.plus(nest.times(k, columns), j));
  const NodeId product = nest.operation(Opcode::kMultiply, ElementType::kF32, {left, right});
  const NodeId next = nest.operation(Opcode::kAdd, ElementType::kF32, {nest.carried(along, 0), product});
  nest.store(y, j, nest.end_carrying(along, std::array{next})[0]);
  nest.end_parallel(across);
  return legalise(nest.take());
}

/// y[i, j] = sum over k < terms of x[k, i] * m[k, j], in f32: loops i, j and k.
Nest columns_by_columns(int64_t rows, int64_t terms, int64_t columns) {
  NestBuilder sum;
  const NodeId a = sum.argument(ElementType::kF32), b = sum.argument(ElementType::kF32);
  const NodeId both = sum.operation(Opcode::kAdd, ElementType::kF32, {a, b});
  const auto combine = std::make_shared<const Function>(sum.take_function(std::array{both}));
  NestBuilder nest;
  const int32_t x = nest.add_buffer(ElementType::kF32, terms * rows);
  const int32_t m = nest.add_buffer(ElementType::kF32, terms * columns);
  const int32_t y = nest.add_buffer(ElementType::kF32, rows * columns);
  const int32_t down = nest.begin_parallel(rows), across = nest.begin_parallel(columns);
  const Affine i = nest.index_of(down), j = nest.index_of(across);
  const NodeId zero = nest.number(ElementType::kF32, 0), neutral = nest.number(ElementType::kF32, -0.0);
  const int32_t along = nest.begin_reduce(terms, std::array{zero}, combine, std::array{neutral});
  const Affine k = nest.index_of(along);
  const NodeId left = nest.load(x, nest.plus(nest.times(k, rows), i));
  const NodeId right = nest.load(m, nest.plus(nest.times(k, columns), j));
  const NodeId product = nest.operation(Opcode::kMultiply, ElementType::kF32, {left, right});
  const NodeId next = nest.operation(Opcode::kAdd, ElementType::kF32, {nest.carried(along, 0), product});
  nest.store(y, nest.plus(nest.times(i, columns), j), nest.end_carrying(along, std::array{next})[0]);
  nest.end_parallel(across);
  nest.end_parallel(down);
  return legalise(nest.take());
}

/// Without masks, iterations that fill no lanes are scalar code, with all loops inside.
TEST(KernelPlans, LanesAreOfALoopThatFillsThem) {
  for (const int64_t rows : {2, 4, 7}) {
    const KernelPlan plan = plan_kernel(columns_by_columns(rows, 4096, 1024), false);
    EXPECT_EQ(plan.lanes[0], 0) << rows;
    EXPECT_GT(plan.lanes[1], 0) << rows;
  }
  const KernelPlan tall = plan_kernel(columns_by_columns(1024, 4096, 2), false);  // the control
  EXPECT_GT(tall.lanes[0], 0);
  EXPECT_EQ(tall.lanes[1], 0);
}

TEST(ShortSums, OfProductsAddUpInPairs) {
  constexpr int64_t kColumns = 16;
  for (int64_t terms = 4; terms <= 8; ++terms) {
    std::vector<float> x(static_cast<size_t>(terms)), m(static_cast<size_t>(terms * kColumns)), y(kColumns);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0F / static_cast<float>(3 * i + 7);
    for (size_t i = 0; i < m.size(); ++i) m[i] = std::sin(static_cast<float>(i + 1));
    int in_order_too = 0;
    for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
      if (isa == Isa::kAvx512 && !has_avx512()) continue;
      const Nest nest = product_sum(terms, kColumns);
      auto kernels = compile_kernels({&nest, 1}, {.isa = isa, .use_cache = false});
      ASSERT_TRUE(kernels.ok()) << kernels.status().message();
      void* const at[] = {x.data(), m.data(), y.data()};
      (*kernels)[0].run(at, 0, 0, kColumns);
      for (size_t j = 0; j < kColumns; ++j) {
        const auto term = [&](size_t k, float sum) { return std::fma(x[k], m[k * kColumns + j], sum); };
        float sums[4], rest[4] = {}, in_order = 0;
        for (size_t k = 0; k < 4; ++k) sums[k] = term(k, 0);
        for (size_t k = 4; k < x.size(); ++k)
          (x.size() == 8 ? sums[k - 4] : rest[k - 4]) = term(k, x.size() == 8 ? sums[k - 4] : 0);
        const float whole = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        EXPECT_EQ(y[j], whole + ((rest[0] + rest[1]) + rest[2])) << terms << " terms, column " << j;
        for (size_t k = 0; k < x.size(); ++k) in_order = term(k, in_order);
        in_order_too += y[j] == in_order;
      }
    }
    EXPECT_LT(in_order_too, 2 * kColumns) << "these numbers can't tell one order from another";
  }
}

/// y[i] = table[places[i]]: with AVX-512 small tables lie in registers. Some lanes don't run.
TEST(SmallTables, AnyElementAtAnyLane) {
  for (const ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kS64, ElementType::kU32}) {
    for (const int64_t elements : {1, 3, 8, 11, 16, 23, 32, 33}) {
      const int64_t count = 77;
      NestBuilder nest;
      const int32_t table = nest.add_buffer(type, elements), places = nest.add_buffer(ElementType::kS32, count),
                    y = nest.add_buffer(type, count);
      const int32_t along = nest.begin_parallel(count);
      const Affine i = nest.index_of(along);
      nest.store(y, i, nest.load(table, nest.affine(nest.load(places, i))));
      nest.end_parallel(along);
      const Nest made = legalise(nest.take());
      const auto bytes = static_cast<size_t>(stored_bytes(type));
      Buffers buffers{std::vector<std::byte>(bytes * static_cast<size_t>(elements)),
                      std::vector<std::byte>(4 * static_cast<size_t>(count)),
                      std::vector<std::byte>(bytes * static_cast<size_t>(count))};
      for (int64_t e = 0; e < elements; ++e) buffers[0][bytes * e] = buffers[0][bytes * e + 3] = std::byte(e + 1);
      for (int64_t k = 0; k < count; ++k) {
        const auto place = static_cast<int32_t>((7 * k + k / 9) % elements);
        std::memcpy(buffers[1].data() + 4 * k, &place, 4);
      }
      Buffers expected = buffers;
      execute(made, addresses(expected));
      for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
        if (isa == Isa::kAvx512 && !has_avx512()) continue;
        auto kernels = compile_kernels({&made, 1}, {.isa = isa, .use_cache = false});
        ASSERT_TRUE(kernels.ok()) << kernels.status().message();
        Buffers found = buffers;
        run((*kernels)[0], found);
        EXPECT_EQ(found[2], expected[2]) << type_name(type) << ", " << elements << " elements";
      }
    }
  }
}

/// y[i] = 2 x[i], in f32.
Nest doubled(int64_t elements) {
  NestBuilder nest;
  const int32_t x = nest.add_buffer(ElementType::kF32, elements), y = nest.add_buffer(ElementType::kF32, elements);
  const int32_t along = nest.begin_parallel(elements);
  const Affine i = nest.index_of(along);
  const NodeId value = nest.load(x, i);
  nest.store(y, i, nest.operation(Opcode::kAdd, ElementType::kF32, {value, value}));
  nest.end_parallel(along);
  return legalise(nest.take());
}

/// Is there a store fence, which only stores past the caches need, on the page of a small kernel's code?
bool has_store_fence(const Kernel& kernel) {
  constexpr size_t kPage = 4096;
  const auto* const first = reinterpret_cast<const char*>(kernel.run);
  const std::string_view code(first - reinterpret_cast<uintptr_t>(first) % kPage, kPage);
  return code.find("\x0f\xae\xf8") != std::string_view::npos;
}

/// Arrays larger than the caches, at any address, and in place.
TEST(FarStores, AreComplete) {
  constexpr int64_t kElements = (int64_t{16} << 20) + 5;
  const Nest large = doubled(kElements), small = doubled(kElements / 2);
  std::vector<float> x(kElements), room(kElements + 64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000);
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (isa == Isa::kAvx512 && !has_avx512()) continue;
    const auto kernels = compile_kernels(std::array{large, small}, {.isa = isa, .use_cache = false});
    ASSERT_TRUE(kernels.ok()) << kernels.status().message();
    EXPECT_TRUE(has_store_fence((*kernels)[0]));
    EXPECT_FALSE(has_store_fence((*kernels)[1])) << "the control: half as many elements";
    const size_t aligned = (64 - reinterpret_cast<uintptr_t>(room.data()) % 64) % 64 / sizeof(float);
    for (const size_t from : {aligned, aligned + 1, aligned + 8}) {
      float* const y = room.data() + from;
      std::fill(room.begin(), room.end(), -1.0F);
      void* const at[] = {x.data(), y};
      (*kernels)[0].run(at, 0, 0, kElements);
      bool all = true;
      for (size_t i = 0; i < x.size(); ++i) all &= y[i] == 2 * x[i];
      EXPECT_TRUE(all) << from;
      EXPECT_EQ(room[from + x.size()], -1.0F);
    }
    std::vector<float> both = x;
    void* const at[] = {both.data(), both.data()};
    (*kernels)[0].run(at, 0, 0, kElements);
    bool all = true;
    for (size_t i = 0; i < x.size(); ++i) all &= both[i] == 2 * x[i];
    EXPECT_TRUE(all) << "in place";
  }
}

/// The library that compiled a kernel, in this process.
void* kernel_compiler() {
  std::string path;
  const auto look = [](dl_phdr_info* info, size_t, void* found) {
    if (std::string_view(info->dlpi_name).find("liblowtide_llvm") == std::string_view::npos) return 0;
    *static_cast<std::string*>(found) = info->dlpi_name;
    return 1;
  };
  dl_iterate_phdr(look, &path);
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
}

TEST(Llvm, WhatItCallsFatalIsThrown) {
  const Nest nest = product_sum(4, 16);
  ASSERT_TRUE(compile_kernels({&nest, 1}, {.use_cache = false}).ok());
  void* const library = kernel_compiler();
  ASSERT_NE(library, nullptr);
  const auto fail = reinterpret_cast<void (*)(const char*)>(dlsym(library, "lowtide_llvm_fail"));
  ASSERT_NE(fail, nullptr);
  try {
    // Short enough for a string to hold in place: what LLVM's own frames have allocated is not released by the
    // unwinding.
    fail("no register");
    FAIL() << "it came back";
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "no register");
  }
  EXPECT_TRUE(compile_kernels({&nest, 1}, {.use_cache = false}).ok()) << "and the next kernel is compiled";
}

}  // namespace
}  // namespace lowtide::engine
