#pragma once
/// What tests of arrays share: they see include/lowtide and nothing else.

#include <gtest/gtest.h>
#include <lowtide/arrays.h>

#include <cmath>
#include <sstream>
#include <vector>

namespace lowtide {

template <class T>
std::vector<T> elements(array a) {
  a.eval();
  const T* const data = a.data<T>();
  return {data, data + a.size()};
}
inline std::vector<float> floats(const array& a) { return elements<float>(astype(a, float32)); }
inline std::vector<int> ints(const array& a) { return elements<int>(astype(a, int32)); }

inline void expect_near(const array& a, const std::vector<float>& expected, float tolerance = 1e-5F) {
  const std::vector<float> found = floats(a);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;  // infinities too
    EXPECT_NEAR(found[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "element " << i;
  }
}

/// What f() throws, as text; empty: nothing.
template <class F>
std::string fault_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

}  // namespace lowtide
