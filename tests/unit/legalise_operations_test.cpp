/// Every elementwise operation on every type it takes: what it is legalised to against its definition.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "accuracy.h"
#include "interp/interpreter.h"
#include "nest/legalise.h"
#include "nest/plain/expand.h"
#include "plain_lanes.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

using Types = std::vector<ElementType>;
using Arrays = std::vector<std::shared_ptr<Literal>>;

const Types kAllTypes = {
#define TYPE(name, text, bits, kind, cpp) ElementType::k##name,
#include "ir/types.def"
};

uint64_t next_random(uint64_t& seed) {
  seed = seed * 6364136223846793005 + 1442695040888963407;
  return seed ^ (seed >> 29);
}

/// `count` elements of the type: all bit patterns where they fit, else random ones among those that are likely to
/// matter.
std::shared_ptr<Literal> numbers(ElementType type, int64_t count, uint64_t seed) {
  auto array = std::make_shared<Literal>(Shape::array(type, {count}));
  for (int64_t i = 0; i < count; ++i) {
    dispatch(type, [&]<class T>() {
      T& to = array->data<T>()[i];
      uint64_t random = next_random(seed);
      const uint64_t kind = next_random(seed) % 8;
      if constexpr (std::is_same_v<T, bool>) {
        to = random & 1;
      } else if constexpr (requires { to.held; }) {
        to = T(static_cast<int64_t>(random));
      } else if constexpr (std::is_integral_v<T>) {
        const T edges[] = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 2,
                           3, 7};
        to = kind == 0 ? edges[random % 8] : kind < 4 ? static_cast<T>(random % 41) - T(20) : static_cast<T>(random);
      } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        const T edges[] = {0,
                           T(-0.0),
                           1,
                           T(-1),
                           std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::denorm_min()};
        if constexpr (std::is_same_v<T, float>) {
          to = std::bit_cast<float>(static_cast<uint32_t>(random));
        } else {
          to = std::bit_cast<double>(random);
        }
        if (kind == 0) to = edges[random % 8];
        if (kind > 3) to = static_cast<T>(std::ldexp(static_cast<double>(static_cast<int64_t>(random)), -60));
        if (kind == 7) to = static_cast<T>(static_cast<int64_t>(random) >> (20 + random % 40)) / 2;
      } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        const double size = std::exp(static_cast<double>(next_random(seed) % 1000) / 150 - 4);
        to = {static_cast<typename T::value_type>(std::ldexp(static_cast<double>(static_cast<int64_t>(random)), -63) *
                                                  size),
              static_cast<typename T::value_type>(
                  std::ldexp(static_cast<double>(static_cast<int64_t>(next_random(seed))), -63) * size)};
      } else {
        const uint64_t mask = (uint64_t{1} << type_bits(type)) - 1;
        to.bits = static_cast<decltype(to.bits)>((kind > 4 ? random : static_cast<uint64_t>(i)) & mask);
      }
    });
  }
  return array;
}

std::shared_ptr<Literal> by_definition(const std::string& call, ElementType result, const Arrays& arguments) {
  std::string text = "HloModule m\nENTRY main {\n";
  const int64_t count = arguments[0]->size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    text += fmt::format("  x{} = {}[{}] parameter({})\n", i, type_name(arguments[i]->shape().type), count, i);
  }
  text += fmt::format("  ROOT r = {}[{}] {}\n}}\n", type_name(result), count, call);
  auto module = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
  LT_ASSERT(module.ok(), module.status().message());
  // The operation alone: kernels that run outside of programs keep denormals.
  const auto evaluated =
      interpret_instruction(*(*module)->entry->root, std::vector<Value>(arguments.begin(), arguments.end()));
  LT_ASSERT(evaluated.ok(), evaluated.status().message());
  return std::make_shared<Literal>(**evaluated);
}

std::shared_ptr<Literal> as_legalised(const Node& operation, const Arrays& arguments) {
  Types types;
  std::vector<void*> buffers;
  for (const auto& argument : arguments) {
    types.push_back(argument->shape().type);
    buffers.push_back(argument->bytes().data());
  }
  const int64_t count = arguments[0]->size();
  const Nest nest = legalise(elementwise_nest(operation, types, count));
  EXPECT_EQ(check_plain(nest), "");
  EXPECT_EQ(check_nest(nest), "");
  auto result = std::make_shared<Literal>(Shape::array(operation.type, {count}));
  buffers.push_back(result->bytes().data());
  run_in_lanes(nest, buffers);
  return result;
}

/// How far two elements are from each other: numbers of the type between them; relative to the size of complex numbers
/// in units of their parts.
double distance(const Literal& a, const Literal& b, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return dispatch(a.shape().type, [&]<class T>() -> double {
    const T x = a.data<T>()[at], y = b.data<T>()[at];
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      using R = typename T::value_type;
      const double size = std::abs(std::complex<double>(y));
      if (!(size <= std::numeric_limits<R>::max() / 8)) return 0;
      if (x == y) return 0;
      return std::abs(std::complex<double>(x) - std::complex<double>(y)) / size / std::numeric_limits<R>::epsilon();
    } else if constexpr (requires { x.bits; }) {
      const float u = x, v = y;
      if (std::isnan(u) || std::isnan(v)) return std::isnan(u) == std::isnan(v) ? 0 : 1e9;
      const bool made_of_nan = a.shape().type == ElementType::kF4E2M1FN;  // which is a zero of either sign there
      if (std::signbit(u) != std::signbit(v)) return u != 0 || v != 0 ? 1e9 : made_of_nan ? 0 : 1e6;
      return std::abs(static_cast<int>(x.bits) - static_cast<int>(y.bits));
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y) ? 0 : 1e9;
      using I = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
      if (std::signbit(x) != std::signbit(y)) return x == 0 && y == 0 ? 1e6 : 1e9;
      return std::fabs(static_cast<double>(std::bit_cast<I>(x)) - static_cast<double>(std::bit_cast<I>(y)));
    } else {
      return std::memcmp(&x, &y, sizeof(T)) == 0 ? 0 : 1e9;
    }
  });
}

std::string text_of_element(const Literal& array, int64_t i) {
  const auto bytes = static_cast<size_t>(stored_bytes(array.shape().type));
  std::string text;
  for (size_t k = bytes; k-- > 0;) {
    text += fmt::format("{:02x}", std::to_integer<int>(array.bytes()[static_cast<size_t>(i) * bytes + k]));
  }
  if (!is_complex(array.shape().type)) text += fmt::format(" ({})", number_at(array, i));
  return text;
}

void expect_equal(const std::string& what, const Node& operation, const Arrays& arguments, double tolerance) {
  const auto want = by_definition(what, operation.type, arguments);
  const auto got = as_legalised(operation, arguments);
  int64_t wrong = 0;
  for (int64_t i = 0; i < want->size(); ++i) {
    if (distance(*got, *want, i) <= tolerance) continue;
    if (wrong++ > 0) continue;
    std::string of;
    for (const auto& argument : arguments) of += " " + text_of_element(*argument, i);
    ADD_FAILURE() << type_name(arguments.back()->shape().type) << " -> " << type_name(operation.type) << " " << what
                  << " of" << of << " is " << text_of_element(*want, i) << ", not " << text_of_element(*got, i)
                  << "; off by " << distance(*got, *want, i);
  }
  EXPECT_EQ(wrong, 0) << what << " of " << type_name(arguments.back()->shape().type);
}

/// Elements of two arrays such that all pairs of 8-bit numbers meet.
Arrays pairs(ElementType type) {
  if (type_bits(type) > 8) return {numbers(type, 5003, 1), numbers(type, 5003, 2)};
  const int64_t count = int64_t{1} << (2 * type_bits(type));
  const auto a = std::make_shared<Literal>(Shape::array(type, {count}));
  const auto b = std::make_shared<Literal>(Shape::array(type, {count}));
  if (type == ElementType::kPred) return {numbers(type, 64, 1), numbers(type, 64, 2)};
  for (int64_t i = 0; i < count; ++i) {
    dispatch(type, [&]<class T>() {
      const auto put = [&](Literal& array, int64_t code) {
        T element{};
        if constexpr (requires { element.held; }) {
          element = T(code);
        } else {
          std::memcpy(static_cast<void*>(&element), &code, 1);
        }
        if constexpr (sizeof(T) == 1) array.data<T>()[i] = element;
      };
      put(*a, i & ((1 << type_bits(type)) - 1));
      put(*b, i >> type_bits(type));
    });
  }
  return {a, b};
}

Arrays one(ElementType type) {
  return {numbers(type, type_bits(type) > 16 ? 10007 : type_bits(type) > 8 ? 1 << 17 : 512, 3)};
}

Node operation(Opcode opcode, ElementType type) {
  return {.kind = NodeKind::kOperation, .opcode = opcode, .type = type};
}

class PlainType : public testing::TestWithParam<ElementType> {};

TEST_P(PlainType, Binary) {
  const ElementType type = GetParam();
  std::vector<Opcode> opcodes = {Opcode::kAdd, Opcode::kMultiply};
  const auto also = [&](std::initializer_list<Opcode> more) { opcodes.insert(opcodes.end(), more); };
  if (type != ElementType::kPred) also({Opcode::kSubtract});
  if (!is_complex(type)) also({Opcode::kMaximum, Opcode::kMinimum});
  if (!is_floating(type) && !is_complex(type)) also({Opcode::kAnd, Opcode::kOr, Opcode::kXor});
  if (is_integral(type)) {
    also({Opcode::kShiftLeft, Opcode::kShiftRightArithmetic, Opcode::kShiftRightLogical, Opcode::kMulhi,
          Opcode::kPower});
  }
  if (is_integral(type) || is_floating(type)) also({Opcode::kDivide, Opcode::kRemainder});
  const Arrays arguments = pairs(type);
  for (const Opcode opcode : opcodes) {
    expect_equal(fmt::format("{}(x0, x1)", opcode_name(opcode)), operation(opcode, type), arguments, 0);
  }
  for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
    if (is_complex(type) && direction[0] != 'E' && direction[0] != 'N') continue;
    Node compare = operation(Opcode::kCompare, ElementType::kPred);
    const char* names[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
    for (int d = 0; d < 6; ++d) {
      if (std::strcmp(names[d], direction) == 0) compare.compare.direction = static_cast<CompareDirection>(d);
    }
    expect_equal(fmt::format("compare(x0, x1), direction={}", direction), compare, arguments, 0);
    if (!is_floating(type)) continue;
    compare.compare.type = CompareType::kTotalOrder;
    expect_equal(fmt::format("compare(x0, x1), direction={}, type=TOTALORDER", direction), compare, arguments, 0);
  }
}

TEST_P(PlainType, Unary) {
  const ElementType type = GetParam();
  const Arrays arguments = one(type);
  std::vector<Opcode> opcodes = {Opcode::kCopy};
  const auto also = [&](std::initializer_list<Opcode> more) { opcodes.insert(opcodes.end(), more); };
  if (type != ElementType::kPred) also({Opcode::kNegate});
  if (is_integral(type) || is_floating(type)) also({Opcode::kAbs, Opcode::kSign});
  if (is_integral(type)) also({Opcode::kPopcnt, Opcode::kCountLeadingZeros});
  if (is_integral(type) || type == ElementType::kPred) also({Opcode::kNot});
  if (is_floating(type)) {
    also({Opcode::kFloor, Opcode::kCeil, Opcode::kRoundNearestAfz, Opcode::kRoundNearestEven, Opcode::kSqrt});
  }
  for (const Opcode opcode : opcodes) {
    expect_equal(fmt::format("{}(x0)", opcode_name(opcode)), operation(opcode, type), arguments, 0);
  }
  if (is_floating(type)) {
    expect_equal("is-finite(x0)", operation(Opcode::kIsFinite, ElementType::kPred), arguments, 0);
    for (const auto& [exponent, mantissa] : {std::pair{8, 7}, {5, 10}, {4, 3}, {8, 0}, {2, 1}, {11, 52}}) {
      Node reduce = operation(Opcode::kReducePrecision, type);
      reduce.reduce_precision = {exponent, mantissa};
      expect_equal(fmt::format("reduce-precision(x0), exponent_bits={}, mantissa_bits={}", exponent, mantissa), reduce,
                   arguments, 0);
    }
  }
}

TEST_P(PlainType, Conversions) {
  const ElementType type = GetParam();
  const Arrays arguments = one(type);
  for (const ElementType to : kAllTypes) {
    if (is_complex(type) && !is_complex(to)) continue;
    expect_equal("convert(x0)", operation(Opcode::kConvert, to), arguments, 0);
    if (type_bits(to) == type_bits(type) && !is_complex(type) && !is_complex(to)) {
      expect_equal("bitcast-convert(x0)", operation(Opcode::kBitcastConvert, to), arguments, 0);
    }
  }
}

TEST_P(PlainType, SelectAndClamp) {
  const ElementType type = GetParam();
  const Arrays ab = pairs(type);
  expect_equal("select(x0, x1, x2)", operation(Opcode::kSelect, type),
               {numbers(ElementType::kPred, ab[0]->size(), 5), ab[0], ab[1]}, 0);
  if (!is_complex(type)) {
    expect_equal("clamp(x0, x1, x2)", operation(Opcode::kClamp, type), {ab[1], ab[0], numbers(type, ab[0]->size(), 6)},
                 0);
  }
}

/// The functions of small floats round once more than in the definitions: the neighbour is right, too.
TEST_P(PlainType, Functions) {
  const ElementType type = GetParam();
  if (!is_floating(type) || type_bits(type) > 16) return;
  const Arrays arguments = one(type);
  for (const AccuracyCase& row : accuracy_cases()) {
    if (row.arity != 1) continue;
    expect_equal(row.name() + "(x0)", operation(row.opcode, type), arguments, 1);
  }
}

TEST_P(PlainType, RoundingByChance) {
  const ElementType type = GetParam();
  if (!is_floating(type) || type_bits(type) < 16) return;
  const ElementType random = type_bits(type) == 16   ? ElementType::kU16
                             : type_bits(type) == 32 ? ElementType::kU32
                                                     : ElementType::kU64;
  const auto x = numbers(type, 5003, 8), u = numbers(random, 5003, 9);
  for (const ElementType to : {ElementType::kBF16, ElementType::kF16, ElementType::kF8E5M2, ElementType::kS8}) {
    expect_equal("stochastic-convert(x0, x1)", operation(Opcode::kStochasticConvert, to), {x, u}, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Legalise, PlainType, testing::ValuesIn(kAllTypes),
                         [](const auto& info) { return std::string(type_name(info.param)); });

class PlainComplexFunction : public testing::TestWithParam<ElementType> {};

TEST_P(PlainComplexFunction, IsNearItsDefinition) {
  const ElementType type = GetParam();
  const double tolerance = type == ElementType::kC64 ? 2 : 40;
  const Arrays z = {numbers(type, 4001, 11)}, zw = {z[0], numbers(type, 4001, 12)};
  for (const Opcode opcode : {Opcode::kExponential, Opcode::kExponentialMinusOne,
                              Opcode::kLog,         Opcode::kLogPlusOne,
                              Opcode::kSqrt,        Opcode::kRsqrt,
                              Opcode::kTanh,        Opcode::kSine,
                              Opcode::kCosine,      Opcode::kTan,
                              Opcode::kSinh,        Opcode::kCosh,
                              Opcode::kAsin,        Opcode::kAcos,
                              Opcode::kAtan,        Opcode::kAsinh,
                              Opcode::kAcosh,       Opcode::kAtanh,
                              Opcode::kCbrt,        Opcode::kLogistic,
                              Opcode::kSign}) {
    expect_equal(fmt::format("{}(x0)", opcode_name(opcode)), operation(opcode, type), z, tolerance);
  }
  for (const Opcode opcode : {Opcode::kDivide, Opcode::kPower}) {
    const double more = opcode == Opcode::kPower && type == ElementType::kC128 ? 2000 : tolerance;
    expect_equal(fmt::format("{}(x0, x1)", opcode_name(opcode)), operation(opcode, type), zw, more);
  }
  expect_equal("abs(x0)", operation(Opcode::kAbs, held_type(type)), z, 2);
  expect_equal("real(x0)", operation(Opcode::kReal, held_type(type)), z, 0);
  expect_equal("imag(x0)", operation(Opcode::kImag, held_type(type)), z, 0);
}

/// Of infinities, zeros and NaN, as C has it (Annex G).
TEST_P(PlainComplexFunction, IsAsInCAtInfinity) {
  const ElementType type = GetParam();
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::array parts = {0.0, -0.0, 1.0, -2.5, 100.0, -800.0, inf, -inf, nan};
  const auto z = std::make_shared<Literal>(Shape::array(type, {parts.size() * parts.size()}));
  for (size_t k = 0; k < parts.size() * parts.size(); ++k) {
    const double re = parts[k % parts.size()], im = parts[k / parts.size()];
    if (type == ElementType::kC64) {
      z->data<std::complex<float>>()[k] = {static_cast<float>(re), static_cast<float>(im)};
    } else {
      z->data<std::complex<double>>()[k] = {re, im};
    }
  }
  for (const Opcode opcode :
       {Opcode::kTanh, Opcode::kSine, Opcode::kCosine, Opcode::kTan, Opcode::kSinh, Opcode::kCosh, Opcode::kAsin,
        Opcode::kAcos, Opcode::kAtan, Opcode::kAsinh, Opcode::kAcosh, Opcode::kAtanh, Opcode::kLog, Opcode::kSqrt}) {
    expect_equal(fmt::format("{}(x0)", opcode_name(opcode)), operation(opcode, type), {z}, 40);
  }
}

INSTANTIATE_TEST_SUITE_P(Legalise, PlainComplexFunction, testing::Values(ElementType::kC64, ElementType::kC128),
                         [](const auto& info) { return std::string(type_name(info.param)); });

/// A control: a wrong operation is noticed.
TEST(Legalise, DefinitionsDiffer) {
  const Arrays arguments = pairs(ElementType::kS8);
  const auto sum = by_definition("add(x0, x1)", ElementType::kS8, arguments);
  const auto difference = as_legalised(operation(Opcode::kSubtract, ElementType::kS8), arguments);
  int64_t wrong = 0;
  for (int64_t i = 0; i < sum->size(); ++i) wrong += distance(*sum, *difference, i) > 0;
  EXPECT_GT(wrong, sum->size() / 2);
}

}  // namespace
}  // namespace lowtide::engine
