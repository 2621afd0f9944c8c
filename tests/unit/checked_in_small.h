#pragma once
/// A plan's check in a small instantiation of its program.

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "compile/check_fit.h"

namespace lowtide::engine {

/// Every decision applies there, results agree, and a spoilt first decision is noticed.
inline void expect_checked_in_small(const Module& module, const Compiled& compiled) {
  const auto checked = check_fit(module, compiled, cpu_backend(), {.only_small = true});
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->how, CheckedFit::How::kSmall);
  EXPECT_EQ(checked->exercised(), std::ssize(checked->rows));
  const auto spoilt = check_fit(module, compiled, cpu_backend(), {.control = 1, .only_small = true});
  ASSERT_FALSE(spoilt.ok()) << "the control";
  EXPECT_EQ(spoilt.status().fault(), Fault::kWrongValues);
}

}  // namespace lowtide::engine
