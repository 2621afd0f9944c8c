#include "accuracy.h"

#include <bit>
#include <cmath>
#include <span>

#include "nest/builder.h"
#include "nest/legalise.h"
#include "plain_lanes.h"

namespace lowtide {

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

Nest elementwise_nest(const Node& operation, std::span<const ElementType> operands, int64_t elements) {
  NestBuilder nest;
  std::vector<int32_t> buffers;
  for (const ElementType type : operands) buffers.push_back(nest.add_buffer(type, elements));
  const int32_t result = nest.add_buffer(operation.type, elements);
  const int32_t loop = nest.begin_parallel(elements);
  const Affine index = nest.index_of(loop);
  std::vector<NodeId> loads;
  for (const int32_t buffer : buffers) loads.push_back(nest.load(buffer, index));
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

template <class F>
class Meter {
 public:
  void take(F got, long double truth, F x, F y) {
    ++result_.samples;
    if (std::isnan(got) || std::isnan(truth)) {
      if (std::isnan(got) != std::isnan(truth)) fault(got, truth, x, y);
      return;
    }
    constexpr int kDigits = std::numeric_limits<F>::digits, kLeast = std::numeric_limits<F>::min_exponent;
    const long double largest = std::numeric_limits<F>::max();
    if (std::isinf(got) || std::isinf(truth) || std::fabs(truth) > largest) {
      // The limit of the range counts as one more number.
      const bool near = std::fabs(truth) > largest * (1 - 4 * std::numeric_limits<F>::epsilon()) &&
                        std::fabs(got) >= largest * (1 - 4 * std::numeric_limits<F>::epsilon());
      if (!near || std::signbit(got) != std::signbit(truth)) fault(got, truth, x, y);
      return;
    }
    if (got == 0 && truth == 0) {
      if (std::signbit(got) != std::signbit(truth)) fault(got, truth, x, y);
      return;
    }
    int exponent = 0;
    std::frexp(truth, &exponent);
    const long double unit = std::ldexp(1.0L, std::max(exponent, kLeast) - kDigits);
    const auto off = static_cast<double>(std::fabs(static_cast<long double>(got) - truth) / unit);
    sum_ += off;
    if (off > result_.most) result_.most = off, result_.worst_x = x, result_.worst_y = y;
  }
  Accuracy result() {
    result_.mean = sum_ / static_cast<double>(result_.samples);
    return result_;
  }

 private:
  void fault(F got, long double truth, F x, F y) {
    if (result_.fault.empty()) {
      char text[200];
      std::snprintf(text, sizeof text, "f(%a, %a) is %a, not %La", static_cast<double>(x), static_cast<double>(y),
                    static_cast<double>(got), truth);
      result_.fault = text;
    }
  }
  Accuracy result_;
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

template <class F, class U>
Accuracy measure_as(const AccuracyCase& accuracy, ElementType type, uint64_t stride,
                    const std::function<void(Nest&)>& change) {
  const std::vector<F> special = special_numbers<F>();
  std::vector<F> x, y;
  const U last = ~U{0};
  for (U bits = static_cast<U>(stride / 3); bits <= last - static_cast<U>(stride); bits += static_cast<U>(stride)) {
    x.push_back(std::bit_cast<F>(bits));
  }
  if (accuracy.arity == 1) {
    x.insert(x.end(), special.begin(), special.end());
  } else {
    uint64_t seed = 1;
    const auto random = [&] { return (seed = seed * 6364136223846793005 + 1442695040888963407) >> 11; };
    for (size_t i = 0; i < x.size(); ++i) {
      // Half of the pairs of like size, so that results are neither all zero nor all infinite.
      const F anything = std::bit_cast<F>(static_cast<U>(random() << 11 >> (64 - 8 * sizeof(U))));
      const F like = static_cast<F>(std::ldexp(static_cast<double>(random() % 4000001) - 2e6, -20 + int(random() % 8)));
      y.push_back(i % 2 ? anything : accuracy.opcode == Opcode::kPower ? like : x[i] * like);
      if (i % 4 == 2 && accuracy.opcode == Opcode::kPower) x[i] = std::fabs(like) + F(1) / 64, y[i] *= 10;
    }
    for (const F a : special) {
      for (const F b : special) x.push_back(a), y.push_back(b);
    }
  }
  if (y.empty()) y.resize(x.size());
  const std::vector<ElementType> types(static_cast<size_t>(accuracy.arity), type);
  const Node operation{.kind = NodeKind::kOperation, .opcode = accuracy.opcode, .type = type};
  Nest nest = legalise(elementwise_nest(operation, types, static_cast<int64_t>(x.size())));
  const std::string impure = check_plain(nest);
  if (!impure.empty()) return {.fault = impure};
  if (change) change(nest);
  std::vector<F> got(x.size());
  std::vector<void*> buffers = {x.data()};
  if (accuracy.arity == 2) buffers.push_back(y.data());
  buffers.push_back(got.data());
  run_in_lanes(nest, buffers);
  Meter<F> meter;
  for (size_t i = 0; i < x.size(); ++i) meter.take(got[i], accuracy.truth(x[i], y[i]), x[i], y[i]);
  return meter.result();
}

}  // namespace

Accuracy measure(const AccuracyCase& accuracy, ElementType type, uint64_t stride,
                 const std::function<void(Nest&)>& change) {
  if (type == ElementType::kF32) return measure_as<float, uint32_t>(accuracy, type, stride, change);
  return measure_as<double, uint64_t>(accuracy, type, stride, change);
}

}  // namespace lowtide
