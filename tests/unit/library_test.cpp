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
    both->data<double>()[n * n - 1] = -1;
    const std::vector<Value> arguments = {both};
    const auto expected = interpret(*module, arguments);
    ASSERT_TRUE(expected.ok());
    const std::vector<Bytes> got = run(*module, arguments, 2, false);
    const auto* numbers = reinterpret_cast<const double*>(got[0].data());
    for (int64_t i = 0; i < 2 * n * n; ++i) {
      const double want = (*expected)[0]->data<double>()[i];
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

TEST(LibraryTriangularSolve, FewVectorsOfManyRows) {
  for (const char* type : {"f32", "f64"}) {
    for (const auto& [n, vectors] : std::map<int, int>{{160, 1}, {203, 2}, {300, 4}}) {
      for (const char* lower : {"true", "false"}) {
        for (const char* transpose : {"NO_TRANSPOSE", "TRANSPOSE"}) {
          for (const bool left : {true, false}) {
            const std::string b = left ? fmt::format("{},{}", n, vectors) : fmt::format("{},{}", vectors, n);
            expect_as_defined(
                fmt::format("HloModule m\nENTRY e {{\n  a = {0}[2,{1},{1}] parameter(0)\n  b = {0}[2,{2}] "
                            "parameter(1)\n  ROOT x = {0}[2,{2}] triangular-solve(a, b), left_side={3}, lower={4}, "
                            "unit_diagonal=false, transpose_a={5}\n}}\n",
                            type, n, b, left, lower, transpose),
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
