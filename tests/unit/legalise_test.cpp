#include "nest/legalise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "accuracy.h"
#include "complex_accuracy.h"

namespace lowtide::engine {
namespace {

class LegalisedFunction : public testing::TestWithParam<size_t> {
 protected:
  const AccuracyCase& row() const { return accuracy_cases()[GetParam()]; }
};

TEST_P(LegalisedFunction, F32IsWithinTwoUnits) {
  const Accuracy accuracy = measure(row(), ElementType::kF32, {});
  EXPECT_EQ(accuracy.fault, "");
  EXPECT_LE(accuracy.most, accuracy_bound(ElementType::kF32)) << "at " << accuracy.at;
}

TEST_P(LegalisedFunction, F64IsWithinThreeUnits) {
  const Accuracy accuracy = measure(row(), ElementType::kF64, {});
  EXPECT_EQ(accuracy.fault, "");
  EXPECT_LE(accuracy.most, accuracy_bound(ElementType::kF64)) << "at " << accuracy.at;
}

TEST_P(LegalisedFunction, NarrowFloatsAreWithinOneUnit) {
  using enum ElementType;
  for (const ElementType type : {kBF16, kF16, kF8E3M4, kF8E4M3, kF8E4M3FN, kF8E5M2, kF8E4M3B11FNUZ, kF8E4M3FNUZ,
                                 kF8E5M2FNUZ, kF8E8M0FNU, kF4E2M1FN}) {
    const Accuracy accuracy = measure(row(), type, {});
    EXPECT_EQ(accuracy.fault, "") << type_name(type);
    EXPECT_LE(accuracy.most, accuracy_bound(type)) << type_name(type) << " at " << accuracy.at;
  }
}

INSTANTIATE_TEST_SUITE_P(Legalise, LegalisedFunction, testing::Range(size_t{0}, accuracy_cases().size()),
                         [](const auto& info) {
                           std::string name = accuracy_cases()[info.param].name();
                           std::erase(name, '-');
                           return name;
                         });

TEST(Powers, OfKnownExponents) {
  for (const AccuracyCase& row : power_cases()) {
    for (const ElementType type : {ElementType::kF32, ElementType::kF64, ElementType::kBF16, ElementType::kF16}) {
      if (type_bits(type) == 16 && std::fabs(*row.known * 4) != std::floor(std::fabs(*row.known * 4))) continue;
      const Accuracy accuracy = measure(row, type, {.samples = 1 << 14});
      EXPECT_EQ(accuracy.fault, "") << type_name(type) << " to the power of " << *row.known;
      EXPECT_LE(accuracy.most, accuracy_bound(type))
          << type_name(type) << " to the power of " << *row.known << " at " << accuracy.at;
    }
  }
}

/// A control: another exponent is noticed.
TEST(Powers, OfAnotherExponent) {
  AccuracyCase row = power_cases()[2];
  row.known = *row.known - 0.25;
  EXPECT_GT(measure(row, ElementType::kF32, {.samples = 1 << 10}).most, 1000);
}

class ComplexFunction : public testing::TestWithParam<size_t> {};

TEST_P(ComplexFunction, IsWithinItsBound) {
  const ComplexAccuracyCase& row = complex_accuracy_cases()[GetParam()];
  for (const ElementType type : {ElementType::kC64, ElementType::kC128}) {
    const Accuracy accuracy = measure(row, type, {.samples = 1 << 13});
    EXPECT_EQ(accuracy.fault, "") << type_name(type);
    EXPECT_LE(accuracy.most, complex_accuracy_bound(row.opcode, type)) << type_name(type) << " at " << accuracy.at;
  }
}

INSTANTIATE_TEST_SUITE_P(Legalise, ComplexFunction, testing::Range(size_t{0}, complex_accuracy_cases().size()),
                         [](const auto& info) {
                           std::string name = complex_accuracy_cases()[info.param].name();
                           std::erase(name, '-');
                           return name;
                         });

/// A control: the sweep must notice when one coefficient of a polynomial is off by a part in 10^5.
TEST(Accuracy, NoticesAWrongCoefficient) {
  for (const AccuracyCase& row : accuracy_cases()) {
    if (row.opcode != Opcode::kExponential && row.opcode != Opcode::kLogPlusOne) continue;
    bool spoiled = false;
    const auto spoil = [&](Nest& nest) {
      for (Node& node : nest.nodes) {
        if (node.kind != NodeKind::kConstant || node.type != ElementType::kF32) continue;
        const auto bits = static_cast<uint32_t>(node.bits[0]);
        // the third coefficients: 0.1666..., 0.25...
        if ((bits >> 12) != 0x3e2aa && (bits >> 12) != 0xbe800) continue;
        node.bits[0] = bits + 200;
        spoiled = true;
      }
    };
    const Accuracy accuracy = measure(row, ElementType::kF32, {.change = spoil});
    EXPECT_TRUE(spoiled) << row.name();
    EXPECT_GT(accuracy.most, accuracy_bound(ElementType::kF32)) << row.name();
  }
}

}  // namespace
}  // namespace lowtide::engine
