#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "library_test_support.h"

namespace lowtide::engine::library_test {
namespace {

TEST(LibraryDot, AllWaysToContract) {
  expect_as_defined(dot("f32[7,9]", "f32[7,13]", "f32[13,9]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
                    1e-6);
  expect_as_defined(dot("f32[7,9]", "f32[13,7]", "f32[9,13]", "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
                    1e-6);
  expect_as_defined(dot("f32[3,2,5,4]", "f32[2,5,6,3]", "f32[3,6,2,4]",
                        "lhs_batch_dims={3,0}, lhs_contracting_dims={2}, "
                        "rhs_batch_dims={0,2}, rhs_contracting_dims={1}"),
                    1e-6);
  expect_as_defined(
      dot("f32[5,4]", "f32[6,5,3]", "f32[3,4,6]", "lhs_contracting_dims={2,0}, rhs_contracting_dims={0,2}"), 1e-6);
  expect_as_defined(dot("f32[5,6]", "f32[5]", "f32[6]", "lhs_contracting_dims={}, rhs_contracting_dims={}"), 1e-6);
  expect_as_defined(
      dot("f32[200,300]", "f32[200,1100]", "f32[1100,300]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      1e-5);
  expect_as_defined(dot("f32[3,130,70]", "f32[130,3,64]", "f32[3,64,70]",
                        "lhs_batch_dims={1}, lhs_contracting_dims={2}, "
                        "rhs_batch_dims={0}, rhs_contracting_dims={1}"),
                    1e-5);
}

TEST(LibraryDot, TilesOfRowsWithCopiesWhereTheyAreNeeded) {
  for (const std::string t : {"f32", "bf16"}) {
    const double tolerance = t == "f32" ? 1e-5 : 1e-2;
    for (const char* m : {"1", "40", "128", "300"}) {
      const auto in = [&](const char* shape) { return t + fmt::format(fmt::runtime(shape), m); };
      expect_as_defined(
          dot(in("[{},96]"), in("[{},200]"), t + "[200,96]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
          tolerance);
      expect_as_defined(
          dot(in("[{},96]"), in("[200,{}]"), t + "[96,200]", "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
          tolerance);
      // attention: [batch, time, heads, depth] both
      expect_as_defined(dot(in("[2,3,{},96]"), in("[2,{},3,200]"), t + "[2,96,3,200]",
                            "lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, "
                            "rhs_contracting_dims={3}"),
                        tolerance);
      expect_as_defined(dot(in("[{},96]"), in("[10,{},20]"), t + "[20,96,10]",
                            "lhs_contracting_dims={0,2}, rhs_contracting_dims={2,0}"),
                        tolerance);
    }
  }
  expect_as_defined(
      dot("f32[200,96]", "bf16[200,300]", "bf16[300,96]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"), 1e-5);
  expect_as_defined(dot("f32[40,100,130]", "f32[40,100,130]", "f32[130,40,130]",
                        "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}"),
                    1e-5);
}

/// f64 is never oneDNN's, small matrices of f32 aren't: rows of left in place or packed, columns in each other's place,
/// several matrices of a task, depths of more than a panel.
TEST(LibraryDot, Panels) {
  const std::vector<int> sides = {1, 2, 6, 15, 17, 70};
  for (const std::string t : {"f64", "s32"}) {
    for (const int m : sides) {
      for (const int k : {0, 1, 9, 256, 300}) {
        const int n = sides[static_cast<size_t>(m + k) % sides.size()];
        const std::string result = fmt::format("{}[{},{}]", t, m, n);
        for (const bool left : {false, true}) {
          for (const bool right : {false, true}) {
            expect_as_defined(dot(result, t + (left ? fmt::format("[{},{}]", k, m) : fmt::format("[{},{}]", m, k)),
                                  t + (right ? fmt::format("[{},{}]", n, k) : fmt::format("[{},{}]", k, n)),
                                  fmt::format("lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}", left ? 0 : 1,
                                              right ? 1 : 0)),
                              1e-12);
          }
        }
      }
    }
  }
  for (const std::string t : {"f32", "bf16", "f64"}) {
    for (const int side : {3, 16, 33}) {
      const std::string matrices = fmt::format("{}[70,{},{}]", t, side, side);
      for (const char* right : {"1", "2"}) {
        expect_as_defined(dot(matrices, matrices, matrices,
                              "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
                              "rhs_contracting_dims={" +
                                  std::string(right) + "}"),
                          t == "bf16" ? 1e-2 : 1e-5);
      }
    }
  }
}

TEST(LibraryDot, DeepProductsOfCopiedRows) {
  for (const std::string t : {"f32", "bf16"}) {
    const double tolerance = t == "f32" ? 1e-5 : 1e-2;
    for (const char* m : {"64", "300"}) {  // a tile and less; several, with a smaller last one
      for (const char* k : {"512", "1024", "1300"}) {
        expect_as_defined(dot(t + fmt::format("[{},70]", m), t + fmt::format("[{},{}]", k, m),
                              t + fmt::format("[{},70]", k), "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
                          tolerance);
      }
      expect_as_defined(dot(t + fmt::format("[{},70]", m), t + fmt::format("[1300,{}]", m), t + "[70,1300]",
                            "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
                        tolerance);
    }
  }
}

TEST(LibraryDot, LongSumsInParts) {
  for (const std::string t : {"f32", "bf16"}) {
    const double tolerance = t == "f32" ? 1e-4 : 1e-2;
    for (const char* k : {"4096", "4700"}) {  // whole parts; a last one of less, with a smaller last call
      for (const char* m : {"8", "40"}) {
        expect_as_defined(dot(t + fmt::format("[{},48]", m), t + fmt::format("[{},{}]", m, k),
                              t + fmt::format("[{},48]", k), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
                          tolerance);
        expect_as_defined(dot(t + fmt::format("[{},48]", m), t + fmt::format("[{},{}]", k, m),
                              t + fmt::format("[{},48]", k), "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
                          tolerance);
      }
    }
  }
}

TEST(LibraryDot, FewRowsTimesColumnsAsTheyLie) {
  for (const std::string t : {"f32", "bf16"}) {
    const double tolerance = t == "f32" ? 1e-5 : 1e-2;
    for (const int m : {1, 2, 33}) {
      expect_as_defined(dot(t + fmt::format("[{},600]", m), t + fmt::format("[{},140]", m), t + "[600,140]",
                            "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
                        tolerance);
      expect_as_defined(
          dot(t + fmt::format("[3,{},300]", m), t + fmt::format("[3,140,{}]", m), t + "[3,300,140]",
              "lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={2}"),
          tolerance);
    }
  }
}

/// Up to eight columns, whose terms fill vectors: a rest of rows, of columns and of terms; either side may be the
/// narrow one, and its terms may lie anywhere.
TEST(LibraryDot, FewColumns) {
  for (const std::string t : {"f32", "f64"}) {
    const double tolerance = t == "f32" ? 1e-5 : 1e-13;
    for (const int n : {2, 3, 4, 5, 8}) {
      for (const int k : {64, 70, 129}) {
        for (const int m : {64, 151}) {
          const std::string tall = t + fmt::format("[{},{}]", m, k), down = t + fmt::format("[{},{}]", k, n),
                            across = t + fmt::format("[{},{}]", n, k);
          const std::string result = t + fmt::format("[{},{}]", m, n), turned = t + fmt::format("[{},{}]", n, m);
          expect_as_defined(dot(result, tall, down, "lhs_contracting_dims={1}, rhs_contracting_dims={0}"), tolerance);
          expect_as_defined(dot(result, tall, across, "lhs_contracting_dims={1}, rhs_contracting_dims={1}"), tolerance);
          expect_as_defined(dot(turned, down, tall, "lhs_contracting_dims={0}, rhs_contracting_dims={1}"), tolerance);
          expect_as_defined(dot(turned, across, tall, "lhs_contracting_dims={1}, rhs_contracting_dims={1}"), tolerance);
        }
      }
      expect_as_defined(
          dot(t + fmt::format("[5,100,{}]", n), t + "[5,100,80]", t + fmt::format("[80,5,{}]", n),
              "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}"),
          tolerance);
    }
  }
}

TEST(LibraryDot, ExtentsOfNothingAndOne) {
  expect_as_defined(dot("f32[0,9]", "f32[0,13]", "f32[13,9]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
                    1e-6);
  expect_as_defined(dot("f32[7,9]", "f32[7,0]", "f32[0,9]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
                    1e-6);
  expect_as_defined(dot("f32[1,1]", "f32[1,1]", "f32[1,1]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
                    1e-6);
  expect_as_defined(
      dot("f32[1,300]", "f32[1,200]", "f32[200,300]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"), 1e-6);
  expect_as_defined(
      dot("bf16[300,1]", "bf16[300,200]", "bf16[200,1]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"), 1e-2);
}

TEST(LibraryDot, AllTypes) {
  const std::string how = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  for (const char* type : {"f64", "s8", "s32", "s64", "u8", "u16", "u64", "pred", "s4"}) {
    const std::string t = type;
    expect_as_defined(dot(t + "[70,90]", t + "[70,130]", t + "[130,90]", how), t == "f64" ? 1e-14 : 0);
  }
  for (const char* type : {"bf16", "f16", "f8e4m3fn", "f8e5m2", "c64", "c128"}) {
    const std::string t = type;
    expect_as_defined(dot(t + "[70,90]", t + "[70,130]", t + "[130,90]", how), t == "c64"    ? 1e-5
                                                                               : t == "c128" ? 1e-14
                                                                               : t[1] == '8' ? 0.13
                                                                                             : 1e-2);
  }
  expect_as_defined(dot("s32[70,90]", "s8[70,130]", "s8[130,90]", how), 0);
  expect_as_defined(dot("f32[70,90]", "bf16[70,130]", "bf16[130,90]", how), 1e-6);
  expect_as_defined(dot("f32[70,90]", "f16[70,130]", "f16[130,90]", how), 1e-6);
}

TEST(LibraryDot, ComplexAsReal) {
  for (const std::string t : {"c64", "c128"}) {
    const double tolerance = t == "c64" ? 1e-5 : 1e-13;
    const auto of = [&](const char* extents) { return t + extents; };
    expect_as_defined(
        dot(of("[70,90]"), of("[70,31]"), of("[31,90]"), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        tolerance);
    expect_as_defined(
        dot(of("[70,90]"), of("[31,70]"), of("[90,31]"), "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
        tolerance);
    // right matrices that are expanded part by part
    expect_as_defined(
        dot(of("[20,1500]"), of("[20,150]"), of("[150,1500]"), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        tolerance);
    expect_as_defined(dot(of("[3,70,80]"), of("[3,70,40]"), of("[40,3,80]"),
                          "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}"),
                      tolerance);
    expect_as_defined(dot(of("[5,14,90]"), of("[5,4,14,8]"), of("[8,4,90]"),
                          "lhs_contracting_dims={1,3}, rhs_contracting_dims={1,0}"),
                      tolerance);
  }
}

// Eight bits by oneDNN, where it has code for them: all layouts, depths that don't fill its groups of four, few rows.
TEST(LibraryDot, BytesSummedInWords) {
  for (const int m : {2, 33, 150}) {
    for (const int n : {31, 64, 257}) {
      for (const int k : {64, 91, 515}) {
        const std::string down = fmt::format("s8[{},{}]", m, k), across = fmt::format("s8[{},{}]", k, m);
        const std::string right = fmt::format("s8[{},{}]", k, n), turned = fmt::format("s8[{},{}]", n, k);
        const std::string to = fmt::format("s32[{},{}]", m, n);
        expect_as_defined(dot(to, down, right, "lhs_contracting_dims={1}, rhs_contracting_dims={0}"), 0);
        expect_as_defined(dot(to, down, turned, "lhs_contracting_dims={1}, rhs_contracting_dims={1}"), 0);
        expect_as_defined(dot(to, across, right, "lhs_contracting_dims={0}, rhs_contracting_dims={0}"), 0);
        expect_as_defined(dot(to, across, turned, "lhs_contracting_dims={0}, rhs_contracting_dims={1}"), 0);
      }
    }
  }
  expect_as_defined(dot("s32[5,100,70]", "s8[5,100,80]", "s8[80,5,70]",
                        "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}"),
                    0);
}

/// Tiles of columns, of which the last has fewer, in two blocks of depth; each side as it lies, or turned round.
TEST(LibraryDot, FewRowsByColumns) {
  for (const std::string t : {"f32", "bf16"}) {
    const double tolerance = t == "f32" ? 1e-5 : 1e-2;
    expect_as_defined(
        dot(t + "[40,700]", t + "[40,600]", t + "[600,700]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        tolerance);
    expect_as_defined(
        dot(t + "[190,700]", t + "[600,190]", t + "[700,600]", "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
        tolerance);
    expect_as_defined(dot(t + "[2,60,300]", t + "[2,60,400]", t + "[2,400,300]",
                          "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"),
                      tolerance);
  }
}

/// Rows of right that are whole vectors: groups of rows with all rests, more rows than a task has, blocks of depth with
/// a rest, either dimension of left along memory, batches.
TEST(LibraryDot, RowsOfRightAsTheyLie) {
  for (const std::string t : {"f32", "f64"}) {
    const double tolerance = t == "f32" ? 1e-5 : 1e-14;
    for (const int m : {2, 5, 13, 30, 95, 255}) {
      for (const auto& [n, k] : {std::pair{48, 300}, {368, 129}, {16, 128}}) {
        expect_as_defined(dot(fmt::format("{}[{},{}]", t, m, n), fmt::format("{}[{},{}]", t, m, k),
                              fmt::format("{}[{},{}]", t, k, n), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
                          tolerance);
        expect_as_defined(dot(fmt::format("{}[{},{}]", t, m, n), fmt::format("{}[{},{}]", t, k, m),
                              fmt::format("{}[{},{}]", t, k, n), "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
                          tolerance);
      }
      expect_as_defined(dot(fmt::format("{}[3,{},64]", t, m), fmt::format("{}[{},3,90]", t, m), t + "[3,90,64]",
                            "lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
                            "rhs_contracting_dims={1}"),
                        tolerance);
    }
  }
}

/// Large enough to be widened where f32 is faster; last rows, columns and depths of tiles.
TEST(LibraryDot, LargeProductsOfBFloat16) {
  expect_as_defined(
      dot("bf16[500,700]", "bf16[500,400]", "bf16[400,700]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      1e-2);
  expect_as_defined(
      dot("f32[500,700]", "bf16[400,500]", "bf16[700,400]", "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
      1e-5);
}

}  // namespace
}  // namespace lowtide::engine::library_test
