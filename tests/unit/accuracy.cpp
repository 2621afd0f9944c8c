#include "accuracy.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <span>

#include "base/small_types.h"
#include "ir/literal.h"
#include "nest/builder.h"
#include "nest/legalise.h"

namespace lowtide::engine {

std::string AccuracyCase::name() const { return std::string(opcode_name(opcode)); }

const std::vector<AccuracyCase>& accuracy_cases() {
  using L = long double;
  static const std::vector<AccuracyCase> cases = {
      {Opcode::kExponential, 1, [](L x, L) { return std::exp(x); }},
      {Opcode::kExponentialMinusOne, 1, [](L x, L) { return std::expm1(x); }},
      {Opcode::kLog, 1, [](L x, L) { return std::log(x); }},
      {Opcode::kLogPlusOne, 1, [](L x, L) { return std::log1p(x); }},
      {Opcode::kLogistic, 1, [](L x, L) { return 1 / (1 + std::exp(-x)); }},
      {Opcode::kTanh, 1, [](L x, L) { return std::tanh(x); }},
      {Opcode::kErf, 1, [](L x, L) { return std::erf(x); }},
      {Opcode::kSine, 1, [](L x, L) { return std::sin(x); }},
      {Opcode::kCosine, 1, [](L x, L) { return std::cos(x); }},
      {Opcode::kTan, 1, [](L x, L) { return std::tan(x); }},
      {Opcode::kAsin, 1, [](L x, L) { return std::asin(x); }},
      {Opcode::kAcos, 1, [](L x, L) { return std::acos(x); }},
      {Opcode::kAtan, 1, [](L x, L) { return std::atan(x); }},
      {Opcode::kSinh, 1, [](L x, L) { return std::sinh(x); }},
      {Opcode::kCosh, 1, [](L x, L) { return std::cosh(x); }},
      {Opcode::kAsinh, 1, [](L x, L) { return std::asinh(x); }},
      {Opcode::kAcosh, 1, [](L x, L) { return std::acosh(x); }},
      {Opcode::kAtanh, 1, [](L x, L) { return std::atanh(x); }},
      {Opcode::kSqrt, 1, [](L x, L) { return std::sqrt(x); }},
      {Opcode::kRsqrt, 1, [](L x, L) { return 1 / std::sqrt(x); }},
      {Opcode::kCbrt, 1, [](L x, L) { return std::cbrt(x); }},
      {Opcode::kAtan2, 2, [](L y, L x) { return std::atan2(y, x); }},
      {Opcode::kPower, 2, [](L x, L y) { return std::pow(x, y); }},
      {Opcode::kRemainder, 2, [](L x, L y) { return std::fmod(x, y); }},
  };
  return cases;
}

const std::vector<AccuracyCase>& power_cases() {
  static const std::vector<AccuracyCase> cases = [] {
    std::vector<AccuracyCase> all;
    for (const double y :
         {-8.0, -2.5, -1.5, -1.0, -0.75, -0.25, 0.25, 0.5, 1.75, 3.0, 8.0, 8.25, static_cast<double>(1.0F / 3), 40.5}) {
      all.push_back(
          {Opcode::kPower, 1, [y](long double x, long double) { return std::pow(x, static_cast<long double>(y)); }, y});
    }
    return all;
  }();
  return cases;
}

Nest elementwise_nest(const Node& operation, std::span<const ElementType> operands, int64_t elements,
                      std::optional<double> known) {
  NestBuilder nest;
  std::vector<int32_t> buffers;
  for (const ElementType type : operands) buffers.push_back(nest.add_buffer(type, elements));
  const int32_t result = nest.add_buffer(operation.type, elements);
  const int32_t loop = nest.begin_parallel(elements);
  const Affine index = nest.index_of(loop);
  std::vector<NodeId> loads;
  for (const int32_t buffer : buffers) loads.push_back(nest.load(buffer, index));
  if (known) loads.push_back(nest.number(operation.type, *known));
  NodeId value = kNoId;
  switch (operation.opcode) {
    case Opcode::kCompare: value = nest.compare(loads[0], loads[1], operation.compare); break;
    case Opcode::kReducePrecision: value = nest.reduce_precision(loads[0], operation.reduce_precision); break;
    default: value = nest.operation(operation.opcode, operation.type, loads);
  }
  nest.store(result, index, value);
  nest.end_parallel(loop);
  return nest.take();
}

namespace {

/// What a unit in the last place is.
struct Format {
  int digits, least;  // bits of the significand; std::frexp's exponent of the smallest normal number
  long double largest;
};
template <int E, int M, int Bias, MiniFloatRange Range, class Bits>
Format format_of(MiniFloat<E, M, Bias, Range, Bits>) {
  using T = MiniFloat<E, M, Bias, Range, Bits>;
  return {M + 1, 2 - Bias, T::decode(T::kLargest)};
}
Format format_of(BFloat16) { return {8, -125, 0x1.fep127L}; }
Format format_of(ScaleFloat) { return {1, -126, 0x1p127L}; }
template <class F>
  requires std::is_floating_point_v<F>
Format format_of(F) {
  using Limits = std::numeric_limits<F>;
  return {Limits::digits, Limits::min_exponent, Limits::max()};
}

template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, uint64_t,
    std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
/// What a number of the type is held in.
template <class T>
using Held = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
class Meter {
 public:
  explicit Meter(int arity) : arity_(arity) {}

  void take(T element, long double truth, T x, T y) {
    ++result_.samples;
    const Held<T> got = element;
    if (is_special(got, truth)) {
      if (!is_right_special(got, truth)) fault(got, truth, x, y);
      return;
    }
    if (got == 0 && truth == 0) {
      if (std::signbit(got) != std::signbit(rounded(truth))) fault(got, truth, x, y);
      return;
    }
    int exponent = 0;
    std::frexp(truth, &exponent);
    const long double unit = std::ldexp(1.0L, std::max(exponent, format_.least) - format_.digits);
    const auto off = static_cast<double>(std::fabs(static_cast<long double>(got) - truth) / unit);
    sum_ += off;
    if (off > result_.most) result_.most = off, worst_x_ = x, worst_y_ = y;
  }
  Accuracy result() {
    result_.mean = sum_ / static_cast<double>(result_.samples);
    result_.at = text_of(worst_x_, worst_y_);
    return result_;
  }

 private:
  static constexpr bool kWide = std::is_floating_point_v<T>;
  static bool is_number(long double x) { return !std::isnan(x) && !std::isinf(x); }
  static bool are_same(long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
  static Held<T> rounded(long double truth) { return T(static_cast<Held<T>>(truth)); }

  /// Where the truth is near the end of the range, two results may be right: what is on either side of it.
  std::pair<Held<T>, Held<T>> around(long double truth) const {
    return {rounded(truth * (1 - 0x1p-20L)), rounded(truth * (1 + 0x1p-20L))};
  }
  bool is_special(Held<T> got, long double truth) const {
    const bool is_beyond = std::fabs(truth) > format_.largest;
    if (!is_number(got) || !is_number(truth)) return true;
    if constexpr (kWide) return is_beyond;
    const auto [a, b] = around(truth);
    const bool saturates = is_number(rounded(INFINITY));
    return !is_number(a) || !is_number(b) || (saturates && is_beyond);
  }
  bool is_right_special(Held<T> got, long double truth) const {
    if constexpr (kWide) {
      if (std::isnan(got) || std::isnan(truth)) return std::isnan(got) && std::isnan(truth);
      // The limit of the range counts as one more number.
      const long double nearly = format_.largest * (1 - 4 * std::numeric_limits<T>::epsilon());
      return std::fabs(truth) > nearly && std::fabs(got) >= nearly && std::signbit(got) == std::signbit(truth);
    } else {
      const auto [a, b] = around(truth);
      return are_same(got, a) || are_same(got, b);
    }
  }
  std::string text_of(T x, T y) const {
    const auto one = static_cast<double>(static_cast<Held<T>>(x)), two = static_cast<double>(static_cast<Held<T>>(y));
    return arity_ == 1 ? fmt::format("{:.9g}", one) : fmt::format("{:.9g}, {:.9g}", one, two);
  }
  void fault(Held<T> got, long double truth, T x, T y) {
    if (result_.fault.empty()) result_.fault = fmt::format("f({}) is {}, not {}", text_of(x, y), got, truth);
  }

  const int arity_;
  const Format format_ = format_of(T{});
  Accuracy result_;
  T worst_x_{}, worst_y_{};
  double sum_ = 0;
};

/// Arguments that every sweep visits besides its stride.
template <class F>
std::vector<F> special_numbers() {
  using Limits = std::numeric_limits<F>;
  const F inf = Limits::infinity(), tiny = Limits::denorm_min(), least = Limits::min(), most = Limits::max();
  std::vector<F> numbers = {0,        tiny,
                            least,    most,
                            inf,      Limits::quiet_NaN(),
                            1,        2,
                            F(0.5),   3,
                            F(1e-3),  F(0.1),
                            F(0.75),  F(1.5),
                            10,       F(1e10),
                            F(1e30),  1024,
                            32768,    F(1) / 3,
                            F(2.5),   F(5),
                            F(1e-10), F(88.72),
                            F(104),   F(709.7),
                            F(745),   F(0.6931472),
                            F(22),    F(1.5707964)};
  for (const F x : {F(1), F(0.5), F(0.25), F(0.75), F(1.5)}) {
    numbers.push_back(std::nextafter(x, F(0)));
    numbers.push_back(std::nextafter(x, inf));
  }
  for (size_t i = 0, n = numbers.size(); i < n; ++i) numbers.push_back(-numbers[i]);
  return numbers;
}

template <class T>
struct Arguments {
  std::vector<T> x, y;
};

/// A partner for each argument: every other pair of like size, so that results are neither all zero nor all infinite.
template <class T>
void add_partners(Opcode opcode, Arguments<T>& arguments) {
  using F = Held<T>;
  using U = BitsOf<T>;
  uint64_t seed = 1;
  const auto random = [&] { return (seed = seed * 6364136223846793005 + 1442695040888963407) >> 11; };
  for (size_t i = 0; i < arguments.x.size(); ++i) {
    T& x = arguments.x[i];
    const T anything = std::bit_cast<T>(static_cast<U>(random() << 11 >> (64 - 8 * sizeof(U))));
    const F like = static_cast<F>(std::ldexp(static_cast<double>(random() % 4000001) - 2e6, -20 + int(random() % 8)));
    T y = i % 2 ? anything : T(opcode == Opcode::kPower ? like : static_cast<F>(x) * like);
    if (i % 4 == 2 && opcode == Opcode::kPower) x = T(std::fabs(like) + F(1) / 64), y = T(static_cast<F>(y) * 10);
    arguments.y.push_back(y);
  }
}

template <class T>
Arguments<T> wide_arguments(const AccuracyCase& row, uint64_t samples) {
  using U = BitsOf<T>;
  Arguments<T> all;
  const U last = ~U{0}, stride = static_cast<U>(static_cast<double>(last) / static_cast<double>(samples)) | 1;
  for (U bits = stride / 3; bits <= last - stride; bits += stride) all.x.push_back(std::bit_cast<T>(bits));
  if (row.arity == 2) add_partners(row.opcode, all);
  const std::vector<T> special = special_numbers<T>();
  for (const T a : special) {
    if (row.arity == 1) all.x.push_back(a);
    for (const T b : special) {
      if (row.arity == 2) all.x.push_back(a), all.y.push_back(b);
    }
  }
  return all;
}

template <class T>
Arguments<T> narrow_arguments(const AccuracyCase& row, int bits, uint64_t samples) {
  Arguments<T> all;
  const auto number = [](uint64_t code) { return std::bit_cast<T>(static_cast<BitsOf<T>>(code)); };
  const uint64_t codes = uint64_t{1} << bits;
  const bool all_pairs = row.arity == 2 && bits <= 8;
  const uint64_t rounds = row.arity == 1 ? 1 : all_pairs ? codes : std::max<uint64_t>(1, samples / codes);
  for (uint64_t round = 0; round < rounds; ++round) {
    for (uint64_t code = 0; code < codes; ++code) {
      all.x.push_back(number(code));
      if (all_pairs) all.y.push_back(number(round));
    }
  }
  if (row.arity == 2 && !all_pairs) add_partners(row.opcode, all);
  return all;
}

template <class T>
Accuracy measure_as(const AccuracyCase& row, ElementType type, const MeasureOptions& options) {
  Arguments<T> arguments;
  if constexpr (std::is_floating_point_v<T>) {
    arguments = wide_arguments<T>(row, options.samples);
  } else {
    arguments = narrow_arguments<T>(row, type_bits(type), options.samples);
  }
  auto& [x, y] = arguments;
  y.resize(x.size());
  const std::vector<ElementType> types(static_cast<size_t>(row.arity), type);
  const Node operation{.kind = NodeKind::kOperation, .opcode = row.opcode, .type = type};
  Nest nest = legalise(elementwise_nest(operation, types, static_cast<int64_t>(x.size()), row.known));
  const std::string impure = check_plain(nest);
  if (!impure.empty()) return {.fault = impure};
  if (options.change) options.change(nest);
  std::vector<T> got(x.size());
  std::vector<void*> buffers = {x.data()};
  if (row.arity == 2) buffers.push_back(y.data());
  buffers.push_back(got.data());
  options.run(nest, buffers);
  Meter<T> meter(row.arity);
  for (size_t i = 0; i < x.size(); ++i) {
    const Held<T> a = x[i], b = y[i];
    meter.take(got[i], row.truth(a, b), x[i], y[i]);
  }
  return meter.result();
}

}  // namespace

double accuracy_bound(ElementType type) { return type == ElementType::kF64 ? 3 : type == ElementType::kF32 ? 2 : 1; }

Accuracy measure(const AccuracyCase& row, ElementType type, const MeasureOptions& options) {
  return dispatch(type, [&]<class T>() -> Accuracy {
    if constexpr (std::is_floating_point_v<T> || requires { T{}.bits; }) return measure_as<T>(row, type, options);
    return {.fault = "not a real float"};
  });
}

}  // namespace lowtide::engine
