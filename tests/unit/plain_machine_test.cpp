/// Functions as machine code give the bits that execution lane by lane gives, with AVX-512 and with AVX2.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "accuracy.h"
#include "codegen/kernel.h"
#include "nest/legalise.h"
#include "plain_lanes.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kCount = 40961;  // odd: the last lanes are not full

struct LanesOfType {
  Isa isa = Isa::kNative;
  ElementType type = ElementType::kF32;
};

class PlainMachineCode : public testing::TestWithParam<LanesOfType> {};

/// Patterns a fixed distance apart; of f64, those whose bits above the lowest 32 vary.
std::vector<uint64_t> arguments(ElementType type, uint64_t seed) {
  std::vector<uint64_t> words(static_cast<size_t>(kCount));
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = (i + seed) * (type == ElementType::kF64 ? 0x9e3779b97f4a7c15 : 0x9e3779b9);
  }
  return words;
}

template <class T>
int64_t differences(const std::vector<T>& a, const std::vector<T>& b, size_t& first) {
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool equal = a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]);
    const bool same = equal || (std::isnan(a[i]) && std::isnan(b[i]));
    if (!same && count++ == 0) first = i;
  }
  return count;
}

template <class T>
void compare(LanesOfType machine) {
  std::vector<Nest> nests;
  for (const AccuracyCase& row : accuracy_cases()) {
    const std::vector<ElementType> types(static_cast<size_t>(row.arity), machine.type);
    const Node operation{.kind = NodeKind::kOperation, .opcode = row.opcode, .type = machine.type};
    nests.push_back(legalise(elementwise_nest(operation, types, kCount)));
  }
  const auto kernels = compile_kernels(nests, {.isa = machine.isa, .use_cache = false});
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  std::vector<T> x, y;
  for (const uint64_t word : arguments(machine.type, 1)) {
    x.push_back(std::bit_cast<T>(static_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(word)));
  }
  for (const T value : x) y.push_back(value * T(0.37) + T(1));
  for (size_t k = 0; k < nests.size(); ++k) {
    std::vector<T> want(x.size()), got(x.size());
    std::vector<void*> buffers = {x.data()};
    if (accuracy_cases()[k].arity == 2) buffers.push_back(y.data());
    buffers.push_back(want.data());
    run_in_lanes(nests[k], buffers);
    buffers.back() = got.data();
    const Kernel& kernel = (*kernels)[k];
    kernel.run(buffers.data(), 0, 0, kernel.pieces[0].extent);
    size_t first = 0;
    EXPECT_EQ(differences(want, got, first), 0) << accuracy_cases()[k].name() << "(" << x[first] << ", " << y[first]
                                                << ") is " << got[first] << ", not " << want[first];
  }
}

TEST_P(PlainMachineCode, GivesTheBitsOfItsNest) {
  const LanesOfType machine = GetParam();
  if (machine.isa == Isa::kAvx512 && !__builtin_cpu_supports("avx512vl")) GTEST_SKIP() << "no AVX-512 here";
  machine.type == ElementType::kF32 ? compare<float>(machine) : compare<double>(machine);
}

INSTANTIATE_TEST_SUITE_P(
    Legalise, PlainMachineCode,
    testing::Values(LanesOfType{Isa::kAvx512, ElementType::kF32}, LanesOfType{Isa::kAvx2, ElementType::kF32},
                    LanesOfType{Isa::kAvx512, ElementType::kF64}, LanesOfType{Isa::kAvx2, ElementType::kF64}),
    [](const auto& info) {
      return std::string(info.param.isa == Isa::kAvx2 ? "avx2_" : "avx512_") + std::string(type_name(info.param.type));
    });

}  // namespace
}  // namespace lowtide::engine
