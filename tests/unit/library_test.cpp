#include "library/library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "library/convert_row.h"
#include "library_test_support.h"

namespace lowtide::engine::library_test {
namespace {

std::string dot(const std::string& result, const std::string& left, const std::string& right,
                const std::string& attributes) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} "
      "parameter(1)\n  ROOT d = {} dot(a, b), {}\n}}\n",
      left, right, result, attributes);
}

std::string fft(const std::string& result, const std::string& operand, const std::string& kind,
                const std::string& length) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  ROOT c = {} fft(a), fft_type={}, fft_length={{{}}}\n}}\n",
      operand, result, kind, length);
}

TEST(LibraryFft, LengthsOfAllFactors) {
  // ones, each factor, their products, primes that are sums themselves, and those that are convolutions
  for (const int n : {1, 2, 3, 4, 5, 7, 16, 31, 37, 60, 74, 97, 121, 360, 512, 1009}) {
    const std::string full = fmt::format("c128[3,{}]", n), half = fmt::format("c64[19,{}]", n / 2 + 1);
    expect_as_defined(fft(full, full, "FFT", std::to_string(n)), 1e-13);
    expect_as_defined(fft(full, full, "IFFT", std::to_string(n)), 1e-13);
    expect_as_defined(fft(half, fmt::format("f32[19,{}]", n), "RFFT", std::to_string(n)), 1e-6);
    expect_as_defined(fft(fmt::format("f32[19,{}]", n), half, "IRFFT", std::to_string(n)), 1e-6);
  }
}

TEST(LibraryFft, SeveralDimensions) {
  expect_as_defined(fft("c64[2,17,12]", "c64[2,17,12]", "FFT", "17,12"), 1e-6);
  expect_as_defined(fft("c128[5,6,37]", "c128[5,6,37]", "IFFT", "5,6,37"), 1e-13);
  expect_as_defined(fft("c128[3,40,5]", "f64[3,40,8]", "RFFT", "40,8"), 1e-13);
  expect_as_defined(fft("f64[2,5,6,7]", "c128[2,5,6,4]", "IRFFT", "5,6,7"), 1e-13);
  expect_as_defined(fft("f32[33,20]", "c64[33,11]", "IRFFT", "33,20"), 1e-6);
}

/// Lines by themselves and shared by threads, blocks of lanes that are full and that aren't, lines beside each other
/// and one after the other, each with lengths of all kinds.
/// Two lines that fill a row of lanes are one: whole blocks, parts of them, and numbers of lines that aren't even.
TEST(LibraryFft, ShortRealLines) {
  for (const int lines : {1, 2, 7, 30, 32, 34, 96}) {
    expect_as_defined(fft(fmt::format("c64[{},9]", lines), fmt::format("f32[{},16]", lines), "RFFT", "16"), 1e-6);
    expect_as_defined(fft(fmt::format("f32[{},16]", lines), fmt::format("c64[{},9]", lines), "IRFFT", "16"), 1e-6);
    expect_as_defined(fft(fmt::format("c128[{},5]", lines), fmt::format("f64[{},8]", lines), "RFFT", "8"), 1e-13);
    expect_as_defined(fft(fmt::format("f64[{},8]", lines), fmt::format("c128[{},5]", lines), "IRFFT", "8"), 1e-13);
  }
}

TEST(LibraryFft, AsDefinedWhateverIsDrawn) {
  std::mt19937 draws(20261124);
  const auto draw = [&](int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(draws); };
  for (int k = 0; k < 160; ++k) {
    const int64_t rank = draw(1, 3), transformed = draw(1, rank);
    Dims dims;
    int64_t most = k % 8 == 0 ? 60'000 : 6'000;  // elements
    for (int64_t d = 0; d < rank; ++d) {
      // Products of small primes, for the definition is slow where there are none, and now and then any number.
      int64_t extent = 1;
      while (draw(0, 5) > 0 && extent * 5 <= most) extent *= draw(2, 5);
      if (draw(0, 5) == 0) extent = draw(1, std::min<int64_t>(most, 90));
      dims.push_back(extent);
      most = std::max<int64_t>(1, most / extent);
    }
    std::ranges::shuffle(dims, draws);
    const std::string real = k % 2 == 0 ? "f32" : "f64", pair = k % 2 == 0 ? "c64" : "c128";
    Dims half = dims;
    half.back() = dims.back() / 2 + 1;
    const std::string length = fmt::format("{}", fmt::join(dims.end() - transformed, dims.end(), ","));
    const std::string whole_dims = fmt::format("[{}]", fmt::join(dims, ","));
    const std::string half_dims = fmt::format("[{}]", fmt::join(half, ","));
    const double tolerance = k % 2 == 0 ? 1e-6 : 1e-13;
    const std::string text = k % 8 < 2   ? fft(pair + whole_dims, pair + whole_dims, "FFT", length)
                             : k % 8 < 4 ? fft(pair + whole_dims, pair + whole_dims, "IFFT", length)
                             : k % 8 < 6 ? fft(pair + half_dims, real + whole_dims, "RFFT", length)
                                         : fft(real + whole_dims, pair + half_dims, "IRFFT", length);
    SCOPED_TRACE(text);
    expect_as_defined(text, tolerance);
  }
}

/// Lines that threads share: of two factors, of an odd length, and with a large prime.
TEST(LibraryFft, LongLines) {
  for (const std::string kind : {"FFT", "IFFT"}) {
    expect_as_defined(fft("c64[40960]", "c64[40960]", kind, "40960"), 1e-6);
    expect_as_defined(fft("c128[2,81920]", "c128[2,81920]", kind, "81920"), 1e-13);
    expect_as_defined(fft("c128[65552]", "c128[65552]", kind, "65552"), 1e-12);
  }
  expect_as_defined(fft("c64[40961]", "f32[81920]", "RFFT", "81920"), 1e-6);
  expect_as_defined(fft("f32[81920]", "c64[40961]", "IRFFT", "81920"), 1e-6);
  expect_as_defined(fft("c128[5104]", "f64[10206]", "RFFT", "10206"), 1e-13);
  expect_as_defined(fft("c128[2552]", "f64[5103]", "RFFT", "5103"), 1e-13);
  expect_as_defined(fft("f64[5103]", "c128[2552]", "IRFFT", "5103"), 1e-13);
}

/// By lanes, by lines, by halves and of odd lengths.
TEST(LibraryFft, EndsOfRealTransformsAreRealWhateverIsTransformed) {
  for (const int n : {8, 9, 64, 5103, 8192}) {
    for (const int lines : {1, 16}) {
      const auto module = read(fft(fmt::format("c64[{},{}]", lines, n / 2 + 1), fmt::format("f32[{},{}]", lines, n),
                                   "RFFT", std::to_string(n)));
      const auto numbers = std::make_shared<Literal>(Shape::array(ElementType::kF32, {lines, n}));
      for (float& number : numbers->data<float>()) number = std::numeric_limits<float>::infinity();
      const Value given[] = {numbers};
      for (const Bytes& bytes : run(*module, given, 2, false)) {
        std::vector<float> waves(bytes.size() / sizeof(float));
        std::memcpy(waves.data(), bytes.data(), bytes.size());
        for (int line = 0; line < lines; ++line) {
          const float* const first = waves.data() + static_cast<size_t>(line * 2 * (n / 2 + 1));
          EXPECT_FALSE(std::isfinite(first[0])) << n;
          EXPECT_EQ(first[1], 0) << n;
          EXPECT_EQ(first[n % 2 == 0 ? n + 1 : 1], 0) << n;
        }
      }
    }
  }
}

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

std::string convolution(const std::string& result, const std::string& input, const std::string& kernel,
                        const std::string& attributes) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT c = {} convolution(a, b), "
      "{}\n}}\n",
      input, kernel, result, attributes);
}

void expect_convolution(const char* result, const char* input, const char* kernel, const char* how,
                        double tolerance = 1e-5) {
  expect_as_defined(convolution(result, input, kernel, how), tolerance);
}

TEST(LibraryConvolution, EveryWindowLabellingAndGroup) {
  expect_convolution("f32[2,9,8,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
                     "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,4,4,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
                     "window={size=3x3 stride=2x2 pad=0_0x1_1}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,12,9,8]", "f32[2,5,9,8]", "f32[12,5,3,3]",
                     "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01");
  expect_convolution("f32[2,5,4,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
                     "window={size=3x3 rhs_dilate=2x2}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,15,13,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
                     "window={size=3x3 lhs_dilate=2x2 pad=0_0x0_0}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,7,6,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
                     "window={size=3x3 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,9,8,24]", "f32[2,9,8,6]", "f32[3,3,2,24]",
                     "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=3");
  expect_convolution("f32[2,7,6,24]", "f32[6,9,8,5]", "f32[3,3,5,24]",
                     "window={size=3x3}, dim_labels=b01f_01io->b01f, batch_group_count=3");
  expect_convolution("f32[8,8,3,8]", "f32[2,16,16,3]", "f32[2,2,2,8]",
                     "window={size=2x2 rhs_dilate=8x8}, dim_labels=f01b_i01o->01bf");
  expect_convolution("f32[2,20,16]", "f32[2,20,7]", "f32[5,7,16]", "window={size=5 pad=2_2}, dim_labels=b0f_0io->b0f");
  expect_convolution("f32[2,4,5,6,16]", "f32[2,4,5,6,3]", "f32[3,3,3,3,16]",
                     "window={size=3x3x3 pad=1_1x1_1x1_1}, dim_labels=b012f_012io->b012f");
  expect_convolution("f32[7,16]", "f32[7,30]", "f32[30,16]", "dim_labels=bf_io->bf");
  expect_convolution("f32[2,4,5,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
                     "window={size=3x3 pad=-2_-1x-1_0}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,32,17,3]", "f32[2,32,17,37]", "f32[3,3,37,3]",
                     "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,40,40,70]", "f32[2,40,40,65]", "f32[3,3,65,70]",
                     "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
}

/// Rows of few terms are copied line by line: with padding on all sides and beyond the window, cropped, dilated, in
/// phases, in lines of several batches, in groups, with results that don't lie one after another, and in other types.
TEST(LibraryConvolution, LinesOfFewTerms) {
  const char* const plain = "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f";
  expect_convolution("f32[3,19,23,40]", "f32[3,19,23,1]", "f32[3,3,1,40]", plain);
  expect_convolution("f64[3,19,23,40]", "f64[3,19,23,1]", "f64[3,3,1,40]", plain, 1e-14);
  expect_convolution("bf16[3,19,23,40]", "bf16[3,19,23,1]", "bf16[3,3,1,40]", plain, 1e-2);
  expect_convolution("s32[3,19,23,40]", "s32[3,19,23,1]", "s32[3,3,1,40]", plain, 0);
  expect_convolution("f32[3,5,12,32]", "f32[3,5,12,1]", "f32[3,3,1,32]",
                     "window={size=3x3 pad=4_-2x-1_3}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[3,15,12,32]", "f32[3,19,16,1]", "f32[3,3,1,32]",
                     "window={size=3x3 rhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,37,33,16]", "f32[2,20,18,1]", "f32[4,4,1,16]",
                     "window={size=4x4 lhs_dilate=2x2 pad=1_0x1_0}, dim_labels=b01f_01io->b01f");
  expect_convolution("f32[2,24,19,21]", "f32[2,3,19,21]", "f32[24,3,3,3]",
                     "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01");
  expect_convolution("f32[2,19,21,24]", "f32[2,6,19,21]", "f32[24,2,3,3]",
                     "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->b01f, feature_group_count=3");
  expect_convolution("f32[2,31,16]", "f32[2,31,1]", "f32[9,1,16]", "window={size=9 pad=4_4}, dim_labels=b0f_0io->b0f");
}

/// A convolution of two spatial dimensions, drawn: windows, strides, dilations, padding and cropping of either side,
/// reversal, groups of features or of batches, and any order of all dimensions.
std::string drawn_convolution(std::mt19937& draws, const std::string& type) {
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(draws);
  };
  const int64_t groups = draw(0, 2) == 0 ? draw(2, 3) : 1;
  const bool by_batch = groups > 1 && draw(0, 1) == 1;
  const int64_t batch = draw(1, 20), features = draw(1, 21), outputs = groups * draw(8, 40);
  std::string window = "window={size=", strides, pads, of_base, of_window, reversals;
  std::map<char, int64_t> input{{'b', by_batch ? batch * groups : batch},
                                {'f', by_batch ? features : features * groups}};
  std::map<char, int64_t> kernel{{'i', features}, {'o', outputs}}, output{{'b', batch}, {'f', outputs}};
  for (const char d : {'0', '1'}) {
    int64_t base = 0, size = 0, stride = 0, low = 0, high = 0, dilate = 0, apart = 0, positions = 0;
    while (positions <= 0) {
      base = draw(1, 24), size = draw(1, 5), stride = draw(1, 3), dilate = draw(1, 3), apart = draw(1, 2);
      low = draw(-2, 4), high = draw(-2, 4);
      const int64_t room = (base - 1) * dilate + 1 + low + high - (size - 1) * apart - 1;
      positions = room < 0 ? 0 : room / stride + 1;
    }
    const std::string by = d == '0' ? "" : "x";
    window += fmt::format("{}{}", by, size);
    strides += fmt::format("{}{}", by, stride);
    pads += fmt::format("{}{}_{}", by, low, high);
    of_base += fmt::format("{}{}", by, dilate);
    of_window += fmt::format("{}{}", by, apart);
    reversals += fmt::format("{}{}", by, draw(0, 1));
    input[d] = base, kernel[d] = size, output[d] = positions;
  }
  const auto labelled = [&](std::string order, std::map<char, int64_t> extents, std::string& shape) {
    std::shuffle(order.begin(), order.end(), draws);
    std::vector<int64_t> dims;
    for (const char label : order) dims.push_back(extents[label]);
    shape = fmt::format("{}[{}]", type, fmt::join(dims, ","));
    return order;
  };
  std::string from, by, to;
  const std::string labels =
      labelled("b01f", input, from) + "_" + labelled("01io", kernel, by) + "->" + labelled("b01f", output, to);
  window += fmt::format(" stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}}}", strides, pads, of_base,
                        of_window, reversals);
  const std::string grouped =
      groups == 1 ? "" : fmt::format(", {}_group_count={}", by_batch ? "batch" : "feature", groups);
  return convolution(to, from, by, window + ", dim_labels=" + labels + grouped);
}

TEST(LibraryConvolution, AsDefinedWhateverIsDrawn) {
  std::mt19937 draws(20261123);
  int in_library_count = 0;
  for (int k = 0; k < 240; ++k) {
    const std::string type = k % 6 == 4 ? "bf16" : k % 6 == 5 ? "f64" : "f32";
    const std::string text = drawn_convolution(draws, type);
    SCOPED_TRACE(text);
    if (!in_library(*read(text)->entry->root)) continue;
    ++in_library_count;
    expect_as_defined(text, type == "bf16" ? 1e-2 : type == "f64" ? 1e-13 : 1e-5);
  }
  EXPECT_GT(in_library_count, 150);
}

TEST(LibraryConvolution, TypesAndExtentsOfNothing) {
  const std::string how = "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f";
  for (const std::string t : {"bf16", "f16", "f64", "s32", "s8", "c64"}) {
    expect_as_defined(convolution(t + "[2,9,8,12]", t + "[2,9,8,5]", t + "[3,3,5,12]", how), t == "f64"    ? 1e-14
                                                                                             : t == "c64"  ? 1e-5
                                                                                             : t[0] == 's' ? 0
                                                                                                           : 1e-2);
  }
  // Half a panel of columns after a whole one: the next row begins there.
  for (const std::string t : {"f32", "f64", "s32", "c64", "c128"}) {
    const int outputs = t == "f32" || t == "s32" ? 48 : t == "c128" ? 12 : 24;
    expect_as_defined(convolution(fmt::format("{}[2,9,8,{}]", t, outputs), t + "[2,9,8,5]",
                                  fmt::format("{}[3,3,5,{}]", t, outputs), how),
                      t == "f32" || t == "c64" ? 1e-5 : 1e-13);
  }
  expect_as_defined(convolution("f32[2,9,8,12]", "bf16[2,9,8,5]", "bf16[3,3,5,12]", how), 1e-5);
  expect_as_defined(convolution("f32[0,9,8,12]", "f32[0,9,8,5]", "f32[3,3,5,12]", how), 1e-5);
  expect_as_defined(convolution("f32[2,0,8,12]", "f32[2,0,8,5]", "f32[1,3,5,12]",
                                "window={size=1x3 pad=0_0x1_1}, dim_labels=b01f_01io->b01f"),
                    1e-5);
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

TEST(Library, RowsWidenedAndRoundedAsEachElementIs) {
  constexpr int64_t kAll = 1 << 16, kEach = 6;
  std::vector<BFloat16> halves(kAll), back(kEach * kAll);
  std::vector<float> wide(kAll), between;
  for (int64_t i = 0; i < kAll; ++i) halves[i].bits = static_cast<uint16_t>(i);
  for (const int64_t count : {kAll, int64_t{21}}) {  // whole vectors, and what is left
    std::ranges::fill(wide, 0.0F);
    convert_row(halves.data(), count, wide.data());
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), static_cast<uint32_t>(i) << 16);
    }
  }
  for (int64_t i = 0; i < kAll; ++i) {
    for (const uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      between.push_back(std::bit_cast<float>(static_cast<uint32_t>(i) << 16 | low));
    }
  }
  convert_row(between.data(), std::ssize(between), back.data());
  for (size_t i = 0; i < between.size(); ++i) ASSERT_EQ(back[i].bits, BFloat16(between[i]).bits) << between[i];
}

TEST(Library, HasNoRoutineForWhatItDoesNotServe) {
  const auto is_in = [](const std::string& text) { return in_library(*read(text)->entry->root); };
  EXPECT_FALSE(
      is_in("HloModule m\nENTRY e {\n  a = f32[3] parameter(0)\n  "
            "ROOT n = f32[3] negate(a)\n}\n"));
  // One output to a group: depthwise
  EXPECT_FALSE(is_in(convolution("f32[2,9,8,6]", "f32[2,9,8,6]", "f32[3,3,1,6]",
                                 "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=6")));
  // Few outputs, and positions next to each other
  EXPECT_FALSE(is_in(convolution("f32[2,3,32,32]", "f32[2,32,32,32]", "f32[3,32,3,3]",
                                 "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01")));
  EXPECT_TRUE(is_in(convolution("f32[2,32,32,3]", "f32[2,32,32,32]", "f32[3,3,32,3]",
                                "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f")));
  EXPECT_FALSE(is_in(dot("bf16[7,9]", "f32[7,13]", "f32[13,9]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}")));
  EXPECT_FALSE(is_in(sort("f32[70]", "f32[70]", 0,
                          "  a = f32[] parameter(0)\n  b = f32[] "
                          "parameter(1)\n  x = f32[] exponential(a)\n"
                          "  ROOT r = pred[] compare(x, b), direction=LT\n")));
}

const char* const kLapackTypes[] = {"f32", "f64", "c64", "c128"};
double tolerance_of(std::string_view type) { return type == "f32" || type == "c64" ? 2e-5 : 1e-12; }

TEST(LibraryCholesky, AsDefined) {
  for (const char* type : kLapackTypes) {
    for (const char* extents : {"1,1", "5,5", "3,2,17,17", "0,4,4", "0,0", "530,530"}) {
      for (const char* lower : {"true", "false"}) {
        expect_as_defined(fmt::format("HloModule m\nENTRY e {{\n  a = {0}[{1}] parameter(0)\n"
                                      "  ROOT c = {0}[{1}] cholesky(a), lower={2}\n}}\n",
                                      type, extents, lower),
                          tolerance_of(type), 1, true);
      }
    }
  }
}

/// Without a factor there is NaN, in that matrix alone.
TEST(LibraryCholesky, NotPositiveDefinite) {
  for (const int64_t n : {int64_t{3}, int64_t{600}}) {
    const auto module =
        read(fmt::format("HloModule m\nENTRY e {{\n  a = f64[2,{0},{0}] parameter(0)\n"
                         "  ROOT c = f64[2,{0},{0}] cholesky(a), lower=true\n}}\n",
                         n));
    auto both = std::make_shared<Literal>(*definite(random_array(module->entry->root->shape, 3)));
    both->data<double>()[static_cast<size_t>(n * n - 1)] = -1;
    const std::vector<Value> arguments = {both};
    const auto expected = interpret(*module, arguments);
    ASSERT_TRUE(expected.ok());
    const std::vector<Bytes> got = run(*module, arguments, 2, false);
    const auto* numbers = reinterpret_cast<const double*>(got[0].data());
    for (int64_t i = 0; i < 2 * n * n; ++i) {
      const double want = (*expected)[0]->data<double>()[static_cast<size_t>(i)];
      ASSERT_EQ(std::isnan(numbers[i]), i < n * n) << i;
      ASSERT_EQ(std::isnan(want), i < n * n) << i;
    }
  }
}

TEST(LibraryTriangularSolve, AsDefined) {
  for (const char* type : kLapackTypes) {
    for (const char* lower : {"true", "false"}) {
      for (const char* unit : {"true", "false"}) {
        for (const char* transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          for (const bool left : {true, false}) {
            for (const char* batch : {"", "2,3,", "0,"}) {
              for (const int vectors : {0, 1, 5}) {
                const std::string b = left ? fmt::format("7,{}", vectors) : fmt::format("{},7", vectors);
                expect_as_defined(
                    fmt::format(
                        "HloModule m\nENTRY e {{\n  a = {0}[{1}7,7] parameter(0)\n  b = {0}[{1}{2}] "
                        "parameter(1)\n  ROOT x = {0}[{1}{2}] triangular-solve(a, b), left_side={3}, lower={4}, "
                        "unit_diagonal={5}, transpose_a={6}\n}}\n",
                        type, batch, b, left, lower, unit, transpose),
                    tolerance_of(type), 1, true);
              }
            }
          }
        }
      }
    }
  }
}

TEST(LibraryTriangularSolve, OneVectorOfManyRows) {
  for (const char* type : {"f32", "f64"}) {
    for (const int n : {40, 64, 203}) {
      for (const char* lower : {"true", "false"}) {
        for (const char* transpose : {"NO_TRANSPOSE", "TRANSPOSE"}) {
          for (const bool left : {true, false}) {
            expect_as_defined(
                fmt::format("HloModule m\nENTRY e {{\n  a = {0}[3,{1},{1}] parameter(0)\n  b = {0}[3,{2}] "
                            "parameter(1)\n  ROOT x = {0}[3,{2}] triangular-solve(a, b), left_side={3}, lower={4}, "
                            "unit_diagonal=false, transpose_a={5}\n}}\n",
                            type, n, left ? fmt::format("{},1", n) : fmt::format("1,{}", n), left, lower, transpose),
                tolerance_of(type), 1, true);
          }
        }
      }
    }
  }
}

/// Parts of the vectors run in several threads.
TEST(LibraryTriangularSolve, Large) {
  for (const char* left : {"true", "false"}) {
    expect_as_defined(fmt::format("HloModule m\nENTRY e {{\n  a = f64[300,300] parameter(0)\n  b = f64[300,300] "
                                  "parameter(1)\n  ROOT x = f64[300,300] triangular-solve(a, b), left_side={}, "
                                  "lower=true, transpose_a=NO_TRANSPOSE\n}}\n",
                                  left),
                      1e-12, 1, true);
  }
}

std::string lapack(const std::string& operands, const std::string& result, const std::string& target,
                   const std::string& layouts, const std::string& config) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n{}  ROOT r = {} custom-call({}), custom_call_target=\"lapack_{}_ffi\", "
      "operand_layout_constraints={{{}}}, backend_config={{{}}}\n}}\n",
      operands, result, operands.find("b =") == std::string::npos ? "a" : "a, b", target, layouts, config);
}

TEST(LibraryLapack, AsDefined) {
  for (const int64_t n : {int64_t{1}, int64_t{6}, int64_t{450}}) {
    const std::string a = fmt::format("  a = f64[2,{0},{0}] parameter(0)\n", n);
    const std::string layout = fmt::format("f64[2,{0},{0}]{{1,2,0}}", n);
    const std::string vector = fmt::format("[2,{}]{{1,0}}", n);
    expect_as_defined(lapack(a, fmt::format("({}, s32{}, s32[2])", layout, vector), "dgetrf", layout, ""), 1e-12, 1,
                      true);
    expect_as_defined(lapack(a, fmt::format("({}, f64{})", layout, vector), "dgeqrf", layout, ""), 1e-10, 1, true);
    expect_as_defined(lapack(a, fmt::format("({}, s32[2])", layout), "dpotrf", layout, "uplo = 76 : ui8"), 1e-12, 1,
                      true);
    if (n > 6) continue;
    expect_as_defined(lapack(a, fmt::format("({}, f64{}, s32[2])", layout, vector), "dsyevd", layout,
                             "mode = 86 : ui8, uplo = 76 : ui8"),
                      0, 1, true);
    expect_as_defined(
        lapack(a, fmt::format("({0}, f64{1}, {0}, {0}, s32[2])", layout, vector), "dgesdd", layout, "mode = 65 : ui8"),
        0, 1, true);
  }
}

/// Rows that aren't columns: matrices are turned where they lie.
TEST(LibraryLapack, NotSquare) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{9, 4}, {4, 9}, {600, 70}, {70, 600}}) {
    const std::string a = fmt::format("  a = c64[3,{},{}] parameter(0)\n", m, n);
    const std::string layout = fmt::format("c64[3,{},{}]{{1,2,0}}", m, n);
    const int64_t few = std::min(m, n);
    expect_as_defined(lapack(a, fmt::format("({}, c64[3,{}])", layout, few), "cgeqrf", layout, ""), 2e-4);
    expect_as_defined(
        lapack(a, fmt::format("({0}, f32[3,{1}], c64[3,{2},{1}], c64[3,{1},{3}], s32[3])", layout, few, m, n), "cgesdd",
               layout, "mode = 83 : ui8"),
        0);
  }
}

}  // namespace
}  // namespace lowtide::engine::library_test
