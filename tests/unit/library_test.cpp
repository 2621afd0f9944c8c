#include "library/library.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "interp/compare.h"
#include "interp/interpreter.h"
#include "library/lanes.h"
#include "text/hlo.h"

namespace lowtide {
namespace {

std::unique_ptr<Module> read(const std::string& text) {
  auto module = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message() << "\n" << text;
  return module.ok() ? module.take() : nullptr;
}

using Bytes = std::vector<std::byte>;

template <class T>
constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Square matrices of a batch become hermitian and positive definite: factors exist, and pivots are no matter of
/// rounding.
Value definite(const Value& array) {
  const Shape& shape = array->shape();
  if (shape.rank() < 2 || shape.dims[shape.dims.size() - 2] != shape.dims.back()) return array;
  auto made = std::make_shared<Literal>(*array);
  const auto n = static_cast<size_t>(shape.dims.back());
  dispatch(shape.type, [&]<class T>() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || kIsComplex<T>) {
      for (size_t first = 0; n > 0 && first < made->data<T>().size(); first += n * n) {
        T* a = made->data<T>().data() + first;
        for (size_t i = 0; i < n; ++i) {
          for (size_t j = 0; j < i; ++j) {
            if constexpr (kIsComplex<T>) {
              a[i * n + j] = std::conj(a[j * n + i]);
            } else {
              a[i * n + j] = a[j * n + i];
            }
          }
          a[i * n + i] = T(static_cast<float>(10 * n + i));
        }
      }
    }
  });
  return made;
}

/// Small numbers of both signs, many of them equal.
Value random_array(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  auto value = std::make_shared<Literal>(Shape::array(shape.type, shape.dims));
  dispatch(shape.type, [&]<class T>() {
    for (T& element : value->data<T>()) {
      const int number = static_cast<int>(random() % 17) - 8;
      if constexpr (std::is_same_v<T, bool>) {
        element = number > 0;
      } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        element = T(static_cast<typename T::value_type>(number), static_cast<typename T::value_type>(random() % 5));
      } else if constexpr (std::is_integral_v<T> || requires(T t) { t.held; }) {
        element = static_cast<T>(number);
      } else {
        element = static_cast<T>(static_cast<float>(number) / 4.0f);
      }
    }
  });
  return value;
}

void flatten(const Value& value, std::vector<Value>& leaves) {
  if (!value->shape().is_tuple()) {
    leaves.push_back(value);
    return;
  }
  for (const Value& part : value->parts()) flatten(part, leaves);
}

/// Runs the root of the entry, whose operands are parameters, through the
/// library and through the interpreter. All memory but the declared scratch is
/// guarded by a pattern. Returns the results of the library.
std::vector<Bytes> run(const Module& module, std::span<const Value> arguments, int threads, bool in_place) {
  const Instruction& root = *module.entry->root;
  EXPECT_TRUE(in_library(root)) << root.name;
  const auto routine = library_routine(root);
  if (!routine) return {};
  constexpr size_t kGuard = 64;
  std::vector<Bytes> operands, results;
  for (const Instruction* operand : root.operands) {
    const auto from = arguments[static_cast<size_t>(operand->as<ParameterAttributes>().number)]->bytes();
    operands.emplace_back(from.begin(), from.end());
  }
  for_each_leaf(root.shape, [&](const ShapeIndex&, const Shape& leaf) {
    results.emplace_back(static_cast<size_t>(element_count(leaf) * stored_bytes(leaf.type)), std::byte{0xAB});
  });
  std::vector<const void*> from;
  for (const Bytes& operand : operands) from.push_back(operand.data());
  std::vector<void*> to;
  for (size_t k = 0; k < results.size(); ++k) {
    const int overwritten = in_place ? library_in_place(root, static_cast<int64_t>(k)) : -1;
    to.push_back(overwritten >= 0 ? operands[static_cast<size_t>(overwritten)].data() : results[k].data());
  }
  const auto scratch_bytes = static_cast<size_t>(routine->scratch_bytes());
  Bytes room(scratch_bytes + kGuard + 64, std::byte{0xCD});
  void* aligned = room.data();
  size_t left = room.size();
  auto* scratch = static_cast<std::byte*>(std::align(64, scratch_bytes + kGuard, aligned, left));
  ThreadPool pool(threads);
  for (int round = 0; round < 2; ++round) {  // a routine is run many times
    if (round == 1 && in_place) break;
    const Status status = routine->run(from, to, scratch, pool);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  for (size_t i = 0; i < kGuard; ++i) EXPECT_EQ(scratch[scratch_bytes + i], std::byte{0xCD}) << "beyond the scratch";
  for (size_t k = 0; k < results.size(); ++k) {
    if (to[k] != results[k].data()) std::memcpy(results[k].data(), to[k], results[k].size());
  }
  return results;
}

/// `tolerance` is relative to the largest element; 0: the same bits.
void expect_as_defined(const std::string& text, double tolerance, unsigned seed = 1, bool factors = false) {
  SCOPED_TRACE(text);
  const auto module = read(text);
  if (!module) return;
  std::vector<Value> arguments;
  for (const Instruction* parameter : module->entry->parameters()) {
    arguments.push_back(random_array(parameter->shape, seed++));
    if (factors) arguments.back() = definite(arguments.back());
  }
  const auto expected = interpret(*module, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const std::vector<Bytes> one = run(*module, arguments, 1, false), three = run(*module, arguments, 3, false);
  EXPECT_EQ(one, three) << "threads change bits";
  bool in_place = false;
  for (size_t k = 0; k < one.size(); ++k) {
    in_place |= library_in_place(*module->entry->root, static_cast<int64_t>(k)) >= 0;
  }
  if (in_place) {
    EXPECT_EQ(one, run(*module, arguments, 2, true)) << "in place";
  }
  std::vector<Value> leaves;
  for (const Value& value : *expected) flatten(value, leaves);
  ASSERT_EQ(leaves.size(), one.size());
  for (size_t k = 0; k < leaves.size(); ++k) {
    const Literal& want = *leaves[k];
    ASSERT_EQ(want.bytes().size(), one[k].size());
    if (tolerance == 0) {
      EXPECT_TRUE(std::ranges::equal(want.bytes(), one[k])) << "leaf " << k;
      continue;
    }
    auto got = std::make_shared<Literal>(want.shape());
    std::copy(one[k].begin(), one[k].end(), got->bytes().begin());
    dispatch(want.shape().type, [&]<class T>() {
      double largest = 0, off = 0;
      for (int64_t i = 0; i < want.size(); ++i) {
        const T x = want.data<T>()[static_cast<size_t>(i)], y = got->data<T>()[static_cast<size_t>(i)];
        if constexpr (requires { x.real(); }) {
          largest = std::max<double>(largest, std::abs(x));
          off = std::max<double>(off, std::abs(x - y));
        } else {
          largest = std::max(largest, std::fabs(static_cast<double>(x)));
          off = std::max(off, std::fabs(static_cast<double>(x) - static_cast<double>(y)));
        }
      }
      EXPECT_LE(off, tolerance * largest) << "leaf " << k;
    });
  }
}

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

std::string convolution(const std::string& result, const std::string& input, const std::string& kernel,
                        const std::string& attributes) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT c = {} convolution(a, b), "
      "{}\n}}\n",
      input, kernel, result, attributes);
}

TEST(LibraryConvolution, EveryWindowLabellingAndGroup) {
  const auto check = [](const char* result, const char* input, const char* kernel, const char* how) {
    expect_as_defined(convolution(result, input, kernel, how), 1e-5);
  };
  check("f32[2,9,8,12]", "f32[2,9,8,5]", "f32[3,3,5,12]", "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
  check("f32[2,4,4,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
        "window={size=3x3 stride=2x2 pad=0_0x1_1}, dim_labels=b01f_01io->b01f");
  check("f32[2,12,9,8]", "f32[2,5,9,8]", "f32[12,5,3,3]", "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01");
  check("f32[2,5,4,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
        "window={size=3x3 rhs_dilate=2x2}, dim_labels=b01f_01io->b01f");
  check("f32[2,15,13,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
        "window={size=3x3 lhs_dilate=2x2 pad=0_0x0_0}, dim_labels=b01f_01io->b01f");
  check("f32[2,7,6,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
        "window={size=3x3 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f");
  check("f32[2,9,8,24]", "f32[2,9,8,6]", "f32[3,3,2,24]",
        "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=3");
  check("f32[2,7,6,24]", "f32[6,9,8,5]", "f32[3,3,5,24]",
        "window={size=3x3}, dim_labels=b01f_01io->b01f, batch_group_count=3");
  check("f32[8,8,3,8]", "f32[2,16,16,3]", "f32[2,2,2,8]",
        "window={size=2x2 rhs_dilate=8x8}, dim_labels=f01b_i01o->01bf");
  check("f32[2,20,16]", "f32[2,20,7]", "f32[5,7,16]", "window={size=5 pad=2_2}, dim_labels=b0f_0io->b0f");
  check("f32[2,4,5,6,16]", "f32[2,4,5,6,3]", "f32[3,3,3,3,16]",
        "window={size=3x3x3 pad=1_1x1_1x1_1}, dim_labels=b012f_012io->b012f");
  check("f32[7,16]", "f32[7,30]", "f32[30,16]", "dim_labels=bf_io->bf");
  check("f32[2,4,5,12]", "f32[2,9,8,5]", "f32[3,3,5,12]",
        "window={size=3x3 pad=-2_-1x-1_0}, dim_labels=b01f_01io->b01f");
  check("f32[2,40,40,70]", "f32[2,40,40,65]", "f32[3,3,65,70]",
        "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
}

TEST(LibraryConvolution, TypesAndExtentsOfNothing) {
  const std::string how = "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f";
  for (const std::string t : {"bf16", "f16", "f64", "s32", "s8", "c64"}) {
    expect_as_defined(convolution(t + "[2,9,8,12]", t + "[2,9,8,5]", t + "[3,3,5,12]", how), t == "f64"    ? 1e-14
                                                                                             : t == "c64"  ? 1e-5
                                                                                             : t[0] == 's' ? 0
                                                                                                           : 1e-2);
  }
  expect_as_defined(convolution("f32[2,9,8,12]", "bf16[2,9,8,5]", "bf16[3,3,5,12]", how), 1e-5);
  expect_as_defined(convolution("f32[0,9,8,12]", "f32[0,9,8,5]", "f32[3,3,5,12]", how), 1e-5);
  expect_as_defined(convolution("f32[2,0,8,12]", "f32[2,0,8,5]", "f32[1,3,5,12]",
                                "window={size=1x3 pad=0_0x1_1}, dim_labels=b01f_01io->b01f"),
                    1e-5);
}

std::string sort(const std::string& shapes, const std::string& result, int dimension, const std::string& comparator) {
  std::string parameters, names;
  int k = 0;
  for (size_t from = 0; from < shapes.size();) {
    const size_t to = std::min(shapes.find(';', from), shapes.size());
    parameters += fmt::format("  p{} = {} parameter({})\n", k, shapes.substr(from, to - from), k);
    names += fmt::format("{}p{}", k ? ", " : "", k);
    ++k;
    from = to + 1;
  }
  return fmt::format(
      "HloModule m\nc {{\n{}}}\nENTRY e {{\n{}  ROOT s = {} sort({}), "
      "dimensions={{{}}}, is_stable=true, to_apply=c\n}}\n",
      comparator, parameters, result, names, dimension);
}

std::string simple(const std::string& type, const std::string& how) {
  return fmt::format(
      "  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  "
      "ROOT r = pred[] compare(a, b), {1}\n",
      type, how);
}

/// Tasks of unequal length: what a lane holds (a comparator's registers) has one user at a time.
TEST(Lanes, OneTaskOfALaneAtATime) {
  const Lanes lanes(100, 64);
  std::vector<std::atomic<int>> users(static_cast<size_t>(lanes.count));
  std::atomic<int> done = 0, met = 0;
  std::vector<std::byte> scratch(static_cast<size_t>(lanes.scratch_bytes()));
  ThreadPool pool(3);
  lanes.run(pool, scratch.data(), [&](int64_t task, std::byte* own, size_t lane) {
    met += users[lane]++ != 0;
    EXPECT_EQ(own, scratch.data() + lane * 64);
    std::this_thread::sleep_for(std::chrono::microseconds(task % 40 == 0 ? 5000 : 50));
    --users[lane];
    ++done;
  });
  EXPECT_EQ(met, 0);
  EXPECT_EQ(done, 100);
}

TEST(LibrarySort, OneArrayOfAnyTypeAlongAnyDimension) {
  for (const char* type : {"f32", "f64", "bf16", "f16", "s8", "s32", "s64", "u8", "u64", "pred", "f8e4m3fn", "s4"}) {
    const std::string t = type;
    for (const char* how : {"direction=LT", "direction=GT"}) {
      expect_as_defined(sort(t + "[70]", t + "[70]", 0, simple(t, how)), 0);
      expect_as_defined(sort(t + "[5,3000]", t + "[5,3000]", 1, simple(t, how)), 0);
      expect_as_defined(sort(t + "[2000,3]", t + "[2000,3]", 0, simple(t, how)), 0);
      expect_as_defined(sort(t + "[4,31,5]", t + "[4,31,5]", 1, simple(t, how)), 0);
    }
  }
  expect_as_defined(sort("f32[4,3000]", "f32[4,3000]", 1, simple("f32", "direction=GT, type=TOTALORDER")), 0);
  for (const char* shape : {"f32[0]", "f32[1]", "f32[3,0]", "f32[0,3]"}) {
    expect_as_defined(sort(shape, shape, 0, simple("f32", "direction=LT")), 0);
  }
}

TEST(LibrarySort, SeveralArraysInStep) {
  const std::string comparator =
      "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] "
      "parameter(2)\n  d = s32[] parameter(3)\n";
  for (const char* n : {"9", "2000"}) {
    const std::string a = fmt::format("f32[3,{}]", n), b = fmt::format("s32[3,{}]", n);
    const std::string result = "(" + a + ", " + b + ")";
    expect_as_defined(sort(a + ";" + b, result, 1, comparator + "  ROOT r = pred[] compare(a, b), direction=LT\n"), 0);
    expect_as_defined(sort(a + ";" + b, result, 1, comparator + "  ROOT r = pred[] compare(d, c), direction=LT\n"), 0);
    expect_as_defined(sort(a + ";" + b, result, 1,
                           comparator + "  x = pred[] compare(a, b), direction=LT\n  y = "
                                        "pred[] compare(a, b), direction=EQ\n"
                                        "  z = pred[] compare(c, d), direction=GT\n  w = "
                                        "pred[] and(y, z)\n  ROOT r = pred[] or(x, w)\n"),
                      0);
    // A comparator that contradicts itself still ends, with the definition's
    // result.
    expect_as_defined(sort(a + ";" + b, result, 1, comparator + "  ROOT r = pred[] compare(a, b), direction=LE\n"), 0);
    expect_as_defined(sort(a + ";" + b, result, 1, comparator + "  ROOT r = pred[] compare(a, a), direction=EQ\n"), 0);
  }
}

constexpr const char* kCanonical = R"(  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  zero = f32[] constant(0)
  nan = f32[] constant(nan)
  az = pred[] compare(a, zero), direction=EQ
  a1 = f32[] select(az, zero, a)
  an = pred[] compare(a, a), direction=NE
  a2 = f32[] select(an, nan, a1)
  bz = pred[] compare(b, zero), direction=EQ
  b1 = f32[] select(bz, zero, b)
  bn = pred[] compare(b, b), direction=NE
  b2 = f32[] select(bn, nan, b1)
  ROOT r = pred[] compare(a2, b2), direction=LT, type=TOTALORDER
)";

TEST(LibrarySort, KeysThatAreFunctions) {
  expect_as_defined(sort("f32[3,40];s32[3,40]", "(f32[3,40], s32[3,40])", 1, kCanonical), 0);
  expect_as_defined(sort("f32[3,4000];s32[3,4000]", "(f32[3,4000], s32[3,4000])", 1, kCanonical), 0);
}

TEST(LibrarySort, NanAndBothZeros) {
  const std::string partial =
      "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] "
      "parameter(2)\n  d = s32[] parameter(3)\n"
      "  ROOT r = pred[] compare(a, b), direction=LT\n";
  for (const std::string& comparator : {std::string(kCanonical), partial}) {
    const auto module = read(sort("f32[2,1500];s32[2,1500]", "(f32[2,1500], s32[2,1500])", 1, comparator));
    std::vector<Value> arguments;
    auto keys = std::make_shared<Literal>(Shape::array(ElementType::kF32, {2, 1500}));
    auto places = std::make_shared<Literal>(Shape::array(ElementType::kS32, {2, 1500}));
    const float inf = INFINITY;
    const float some[] = {0.0f, -0.0f, 1.0f, -1.0f, inf, -inf, NAN, -NAN};
    for (size_t i = 0; i < 3000; ++i) {
      // NaN in the second line only: both ways are taken
      keys->data<float>()[i] = some[i * 2654435761u % (i < 1500 ? 6 : 8)];
      places->data<int32_t>()[i] = static_cast<int32_t>(i);
    }
    arguments = {keys, places};
    const auto expected = interpret(*module, arguments);
    ASSERT_TRUE(expected.ok());
    const auto got = run(*module, arguments, 2, false);
    std::vector<Value> leaves;
    for (const Value& value : *expected) flatten(value, leaves);
    for (size_t k = 0; k < 2; ++k)
      EXPECT_EQ(std::memcmp(leaves[k]->bytes().data(), got[k].data(), got[k].size()), 0) << k;
  }
}

/// One array in place: f makes both zeros equal, and every NaN.
TEST(LibrarySort, WhatTheKeyMergesKeepsItsOrder) {
  std::string canonical = kCanonical;
  const size_t third = canonical.find("  c = s32[]"), zero = canonical.find("  zero =");
  canonical.erase(third, zero - third);
  for (const size_t kinds : {size_t{6}, size_t{8}, size_t{1500}}) {
    for (const char* shape : {"f32[3,1500]", "f32[70000]"}) {
      const auto module = read(sort(shape, shape, shape[4] == '3' ? 1 : 0, canonical));
      auto keys = std::make_shared<Literal>(module->entry->root->shape);
      const auto size = static_cast<size_t>(keys->size());
      const float some[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, -NAN};
      for (size_t i = 0; i < size; ++i) {
        const size_t k = i * 2654435761u % kinds;
        keys->data<float>()[i] = k < 8 ? some[k] : std::bit_cast<float>(static_cast<uint32_t>(k * 0x9E3779B9u));
      }
      const std::vector<Value> arguments = {keys};
      const auto expected = interpret(*module, arguments);
      ASSERT_TRUE(expected.ok());
      for (const bool in_place : {false, true}) {
        const auto got = run(*module, arguments, 3, in_place);
        EXPECT_EQ(std::memcmp((*expected)[0]->bytes().data(), got[0].data(), got[0].size()), 0) << shape << kinds;
      }
      auto scratch = library_routine(*module->entry->root)->scratch_bytes();
      EXPECT_EQ(scratch, 0) << "room beside the array";
    }
  }
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

/// A function that changes most values isn't taken for one that tidies a few.
TEST(LibrarySort, KeyThatTurnsTheOrder) {
  const std::string negated =
      "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  zero = f32[] constant(-1)\n"
      "  x = f32[] multiply(a, zero)\n  y = f32[] multiply(b, zero)\n"
      "  ROOT r = pred[] compare(x, y), direction=LT, type=TOTALORDER\n";
  expect_as_defined(sort("f32[2,3000]", "f32[2,3000]", 1, negated), 0);
}

TEST(LibraryTopK, AsDefined) {
  for (const char* type : {"f32", "bf16", "s32", "u8", "f64", "s64"}) {
    for (const char* largest : {"true", "false"}) {
      for (const int k : {0, 1, 5, 40}) {
        expect_as_defined(fmt::format("HloModule m\nENTRY e {{\n  a = {0}[3,40] "
                                      "parameter(0)\n  ROOT t = ({0}[3,{1}], s32[3,{1}]) "
                                      "topk(a), k={1}, largest={2}\n}}\n",
                                      type, k, largest),
                          0);
      }
    }
  }
  expect_as_defined(
      "HloModule m\nENTRY e {\n  a = f32[3,400] parameter(0)\n  "
      "ROOT t = (f32[3,7], s32[3,7]) custom-call(a), "
      "custom_call_target=\"TopK\"\n}\n",
      0);
}

TEST(Library, HasNoRoutineForWhatItDoesNotServe) {
  const auto is_in = [](const std::string& text) { return in_library(*read(text)->entry->root); };
  EXPECT_FALSE(
      is_in("HloModule m\nENTRY e {\n  a = f32[3] parameter(0)\n  "
            "ROOT n = f32[3] negate(a)\n}\n"));
  // One output to a group: depthwise
  EXPECT_FALSE(is_in(convolution("f32[2,9,8,6]", "f32[2,9,8,6]", "f32[3,3,1,6]",
                                 "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=6")));
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
}  // namespace lowtide
