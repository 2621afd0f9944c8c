#include "interp/noise.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace lowtide::engine {
namespace {

constexpr double kRoundings = 2;  ///< that one operation may take in another spelling
/// Of the terms of a sum, that another order may round elsewhere. Narrow sums lose most where they have grown.
constexpr double kOfTerms = 1.0 / 8;
constexpr double kPlaces = 8;  ///< that seeded indices name

constexpr double kFloat = 0x1p-24;

/// Terms that each element adds up.
double terms_of_sum(const Instruction& i) {
  double terms = 1;
  const auto extent = [&](size_t k, int64_t d) {
    return static_cast<double>(i.operand(k).shape.dims[static_cast<size_t>(d)]);
  };
  switch (i.opcode) {
    case Opcode::kReduce: {
      for (const int64_t d : i.as<DimensionsAttributes>().dimensions) terms *= extent(0, d);
      return terms;
    }
    case Opcode::kReduceWindow: {
      for (const int64_t size : i.as<WindowAttributes>().window.size) terms *= static_cast<double>(size);
      return terms;
    }
    case Opcode::kDot: {
      for (const int64_t d : i.as<DotAttributes>().lhs_contracting_dims) terms *= extent(0, d);
      return terms;
    }
    case Opcode::kConvolution: {
      const auto& a = i.as<ConvolutionAttributes>();
      for (const int64_t d : a.kernel_spatial) terms *= extent(1, d);
      return terms * extent(1, a.kernel_input_feature);
    }
    case Opcode::kScatter: {  // updates go to few places
      const Shape& updates = i.operands.back()->shape;
      terms = static_cast<double>(element_count(updates));
      for (const int64_t d : i.as<ScatterAttributes>().update_window_dims) {
        terms /= static_cast<double>(std::max<int64_t>(1, updates.dims[static_cast<size_t>(d)]));
      }
      return terms / kPlaces;
    }
    case Opcode::kBatchNormTraining:
    case Opcode::kBatchNormGrad:
      return static_cast<double>(element_count(i.operand(0).shape)) /
             static_cast<double>(std::max<int64_t>(1, extent(0, i.as<BatchNormAttributes>().feature_index)));
    default: return 0;
  }
}

bool is_batch_norm(const Instruction& i) {
  return i.opcode == Opcode::kBatchNormTraining || i.opcode == Opcode::kBatchNormGrad ||
         i.opcode == Opcode::kBatchNormInference;
}

/// Sums of narrow floats that are kept in wider ones.
bool sums_in_floats(const Instruction& i) {
  return memory_class(i.opcode) == MemoryClass::kContract || is_batch_norm(i);
}

/// Does what a body does to two elements round?
bool body_rounds(const Computation& body) {
  if (!body.root->shape.is_tuple()) return rounds(*body.root);
  return std::ranges::any_of(body.root->operands, [](const Instruction* i) { return rounds(*i); });
}

template <class T>
constexpr bool kIsFloat = !std::is_integral_v<T> && !requires(T t) { t.held; };

}  // namespace

bool rounds(const Instruction& i) {
  if (is_batch_norm(i)) return true;
  if (i.opcode == Opcode::kReduce || i.opcode == Opcode::kReduceWindow || i.opcode == Opcode::kScatter) {
    return body_rounds(*i.called[0]);
  }
  if (!i.shape.is_array() || (!is_floating(i.shape.type) && !is_complex(i.shape.type))) return false;
  switch (i.opcode) {
    case Opcode::kAbs:
    case Opcode::kBitcastConvert:
    case Opcode::kCeil:
    case Opcode::kClamp:
    case Opcode::kComplex:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kMap:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kNegate:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kSelect:
    case Opcode::kSign: return false;
    case Opcode::kFft:
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve: return true;
    default: break;
  }
  const MemoryClass kind = memory_class(i.opcode);
  return kind == MemoryClass::kElementwise || kind == MemoryClass::kContract;
}

double rounding_error_of(const Instruction& i, ElementType type) {
  const double roundoff = roundoff_of(type), terms = terms_of_sum(i);
  const double of_sum = sums_in_floats(i) ? std::min(roundoff, kFloat) : roundoff;
  // Where a sum has grown so far that terms are lost whole, another order may find them all.
  const double lost = terms * of_sum > 1 ? 1 : kOfTerms;
  return kRoundings * roundoff + lost * terms * of_sum;
}

double roundoff_of(ElementType floating) {
  return dispatch(floating, [&]<class T>() -> double {
    if constexpr (kIsFloat<T>) {
      if constexpr (std::is_same_v<T, std::complex<float>>)
        return 0x1p-24;
      else if constexpr (std::is_same_v<T, std::complex<double>> || std::is_same_v<T, double>)
        return 0x1p-53;
      else {
        double step = 0.5;
        while (static_cast<double>(static_cast<float>(T(static_cast<float>(1 + step)))) != 1 && step > 0x1p-60)
          step /= 2;
        return step;
      }
    } else {
      return 0;
    }
  });
}

void Noise::add(Literal& array, double unit) {
  const auto moved = [&] {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    // By half of it at least: of a result that is one rounding, a small move would round away, and tell nothing.
    const double part = static_cast<double>((z ^ (z >> 31)) >> 40) / 0x1p23 - 1;
    return 1 + unit * std::copysign((1 + std::abs(part)) / 2, part);
  };
  dispatch(array.shape().type, [&]<class T>() {
    if constexpr (kIsFloat<T>) {
      for (T& x : array.data<T>()) {
        if constexpr (std::is_same_v<T, double>)
          x *= moved();
        else if constexpr (std::is_same_v<T, std::complex<double>>)
          x *= moved();
        else if constexpr (std::is_same_v<T, std::complex<float>>)
          x *= static_cast<float>(moved());
        else
          x = T(static_cast<float>(static_cast<double>(static_cast<float>(x)) * moved()));
      }
    }
  });
}

}  // namespace lowtide::engine
