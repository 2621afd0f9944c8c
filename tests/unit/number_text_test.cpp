// Every value of the narrow types, and random ones of the wide types, survives the way to text and back.
#include "ops/number_text.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/element_type.h"

namespace lowtide::engine {
namespace {

template <class T>
void expect_round_trip(T value) {
  std::string text;
  append_real(value, text);
  T back{};
  const char* fault = read_real<T>(text, back);
  ASSERT_EQ(fault, nullptr) << text << ": " << fault;
  if constexpr (is_small_float<T> || std::is_floating_point_v<T>) {
    EXPECT_EQ(bits_of(back), bits_of(value)) << text;
  } else {
    EXPECT_EQ(static_cast<int64_t>(back), static_cast<int64_t>(value)) << text;
  }
}

TEST(NumberText, EveryNarrowValueSurvives) {
  for (int t = 0; t < static_cast<int>(ElementType::kTuple); ++t) {
    const auto type = static_cast<ElementType>(t);
    dispatch(type, [&]<class T>() {
      if constexpr (is_small_float<T>) {
        for (uint32_t bits = 0; bits < uint32_t{1} << type_bits(type); ++bits) {
          T value{};
          value.bits = static_cast<decltype(value.bits)>(bits);
          expect_round_trip(value);
        }
      } else if constexpr (is_small_int<T>) {
        for (int64_t i = T::lowest(); i <= T::highest(); ++i) expect_round_trip(T(i));
      }
    });
  }
}

TEST(NumberText, RandomWideValuesSurvive) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t bits = random();
    expect_round_trip(std::bit_cast<double>(bits));
    expect_round_trip(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    expect_round_trip(static_cast<int64_t>(bits));
    expect_round_trip(static_cast<int16_t>(bits));
    uint64_t back = 0;
    ASSERT_EQ(read_real<uint64_t>(std::to_string(bits), back), nullptr);
    EXPECT_EQ(back, bits);
  }
}

/// Halfway points between neighbours of a narrow type, from `first` on, written in full and nudged in the last of 40
/// digits.
template <class T>
void expect_ties_to_even(float first) {
  const auto begin = static_cast<uint32_t>(bits_of(T(first)));
  for (uint32_t bits = begin; bits < begin + 200; ++bits) {
    T low{}, high{};
    low.bits = static_cast<decltype(low.bits)>(bits);
    high.bits = static_cast<decltype(high.bits)>(bits + 1);
    const double middle =
        (static_cast<double>(static_cast<float>(low)) + static_cast<double>(static_cast<float>(high))) / 2;
    char text[64];
    const std::string tie(text, std::to_chars(text, text + 60, middle, std::chars_format::fixed, 40).ptr);
    std::string above = tie;
    above.back() = '1';
    T at_tie{}, nudged{};
    ASSERT_EQ(read_real<T>(tie, at_tie), nullptr);
    ASSERT_EQ(read_real<T>(above, nudged), nullptr);
    EXPECT_EQ(bits_of(at_tie), bits % 2 == 0 ? bits_of(low) : bits_of(high)) << tie;
    EXPECT_EQ(bits_of(nudged), bits_of(high)) << above;
  }
}

TEST(NumberText, TiesGoToEvenAndNudgedOnesDoNot) {
  for (const float first : {0.001f, 1.0f, 1000.0f}) {
    expect_ties_to_even<BFloat16>(first);
    expect_ties_to_even<Float16>(first);
  }
}

}  // namespace
}  // namespace lowtide::engine
