#include "nest/legalise.h"

#include <gtest/gtest.h>

#include "accuracy.h"

namespace lowtide {
namespace {

/// Every stride is a prime, so that all bits of the floats vary.
constexpr uint64_t kStride32 = 65537, kStride64 = 281474976710677;

class Function : public testing::TestWithParam<size_t> {
 protected:
  const AccuracyCase& row() const { return accuracy_cases()[GetParam()]; }
};

TEST_P(Function, F32IsWithinTwoUnits) {
  const Accuracy accuracy = measure(row(), ElementType::kF32, kStride32);
  EXPECT_EQ(accuracy.fault, "");
  EXPECT_LE(accuracy.most, 2) << "at " << accuracy.worst_x << ", " << accuracy.worst_y;
}

TEST_P(Function, F64IsWithinThreeUnits) {
  const Accuracy accuracy = measure(row(), ElementType::kF64, kStride64);
  EXPECT_EQ(accuracy.fault, "");
  EXPECT_LE(accuracy.most, 3) << "at " << accuracy.worst_x << ", " << accuracy.worst_y;
}

INSTANTIATE_TEST_SUITE_P(Legalise, Function, testing::Range(size_t{0}, accuracy_cases().size()), [](const auto& info) {
  std::string name = accuracy_cases()[info.param].name();
  std::erase(name, '-');
  return name;
});

/// A control: the sweep must notice when one coefficient of a polynomial is off by a part in 10^5.
TEST(Accuracy, NoticesAWrongCoefficient) {
  for (const AccuracyCase& row : accuracy_cases()) {
    if (row.opcode != Opcode::kExponential && row.opcode != Opcode::kLogPlusOne) continue;
    bool spoiled = false;
    const Accuracy accuracy = measure(row, ElementType::kF32, kStride32, [&](Nest& nest) {
      for (Node& node : nest.nodes) {
        if (node.kind != NodeKind::kConstant || node.type != ElementType::kF32) continue;
        const auto bits = static_cast<uint32_t>(node.bits[0]);
        // the third coefficients: 0.1666..., 0.25...
        if ((bits >> 12) != 0x3e2aa && (bits >> 12) != 0xbe800) continue;
        node.bits[0] = bits + 200;
        spoiled = true;
      }
    });
    EXPECT_TRUE(spoiled) << row.name();
    EXPECT_GT(accuracy.most, 2) << row.name();
  }
}

}  // namespace
}  // namespace lowtide
