// Compiled kernels against execution of the same nests by definition.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codegen/kernel.h"

#include "nest/legalise.h"
#include "ops/execute.h"
#include "random_nest.h"

namespace lowtide {
namespace {

using Buffers = std::vector<std::vector<std::byte>>;

std::vector<void*> addresses(Buffers& buffers) {
  std::vector<void*> list;
  for (auto& buffer : buffers) list.push_back(buffer.data());
  return list;
}

/// Pieces in order, each cut at a granule somewhere in its middle.
void run(const Kernel& kernel, Buffers& buffers) {
  const std::vector<void*> at = addresses(buffers);
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

std::string compiled_differs(const RandomNest& random, Isa isa) {
  Buffers expected = random.buffers, found = random.buffers;
  execute(random.nest, addresses(expected));
  auto kernels = compile_kernels({&random.nest, 1}, {.isa = isa, .use_cache = false});
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
    EXPECT_EQ(compiled_differs(random, GetParam()), "") << "seed " << seed << "\n" << to_text(random.nest);
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

}  // namespace
}  // namespace lowtide
