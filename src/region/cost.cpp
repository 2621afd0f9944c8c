#include "region/cost.h"

#include <algorithm>

#include "region/evaluations.h"
#include "region/footprint.h"

namespace lowtide {
namespace {

/// A vector of 16 f32 lanes in one of two ports, loads and address arithmetic aside.
constexpr double kPlainNs = 0.02;

double operation_ns(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kCopy:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kComplex:
    case Opcode::kDynamicSlice: return 0.25 * kPlainNs;
    case Opcode::kTranspose:
    case Opcode::kReshape:
    case Opcode::kBitcast: return 2 * kPlainNs;
    case Opcode::kDivide:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kRemainder: return 5 * kPlainNs;
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLogistic:
    case Opcode::kCbrt: return 10 * kPlainNs;
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kTanh:
    case Opcode::kErf:
    case Opcode::kSine:
    case Opcode::kCosine: return 16 * kPlainNs;
    case Opcode::kTan:
    case Opcode::kAtan2:
    case Opcode::kPower:
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtan:
    case Opcode::kAtanh:
    case Opcode::kSinh:
    case Opcode::kCosh: return 30 * kPlainNs;
    case Opcode::kGather: return 15 * kPlainNs;
    case Opcode::kRngBitGenerator:
    case Opcode::kRng: return 60 * kPlainNs;
    default: return kPlainNs;
  }
}

double width_factor(ElementType type) {
  if (!is_array_type(type)) return 1;
  const double words = std::max(1.0, type_bits(type) / 32.0);
  return is_floating(type) && type_bits(type) < 32 ? 1.5 : words;
}

double computation_ns(const Computation& computation, int depth) {
  double all = 0;
  for (const auto& i : computation.instructions()) {
    if (i->opcode == Opcode::kParameter || i->opcode == Opcode::kTuple || i->opcode == Opcode::kGetTupleElement) {
      continue;
    }
    all += operation_ns(i->opcode) * width_factor(i->shape.type);
    if (depth < 4) {
      for (const Computation* called : i->called) all += computation_ns(*called, depth + 1);
    }
  }
  return all;
}

}  // namespace

double element_ns(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kWhile: return guessed_trips(i) * (computation_ns(*i.called[0], 0) + computation_ns(*i.called[1], 0));
    case Opcode::kDot:
    case Opcode::kConvolution: return terms_of(i) * 2 * kPlainNs * width_factor(i.shape.type);
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter: {
      double each = 0;
      for (const Computation* called : i.called) each += computation_ns(*called, 0);
      return terms_of(i) * each;
    }
    default: break;
  }
  double called = 0;
  for (const Computation* c : i.called) called += computation_ns(*c, 0);
  return operation_ns(i.opcode) * width_factor(i.shape.type) + called;
}

int32_t code_size(const Instruction& i) {
  const auto size = [&] {
    switch (i.opcode) {  // by measured compile times
      case Opcode::kSine:
      case Opcode::kCosine:
      case Opcode::kTan: return 16;
      case Opcode::kAcos:
      case Opcode::kAcosh:
      case Opcode::kAsin:
      case Opcode::kAsinh:
      case Opcode::kAtan:
      case Opcode::kAtan2:
      case Opcode::kAtanh:
      case Opcode::kCosh:
      case Opcode::kPower:
      case Opcode::kSinh: return 6;
      case Opcode::kCbrt:
      case Opcode::kErf:
      case Opcode::kTanh: return 4;
      case Opcode::kExponential:
      case Opcode::kExponentialMinusOne:
      case Opcode::kLog:
      case Opcode::kLogPlusOne:
      case Opcode::kLogistic: return 2;
      default: return 1;
    }
  }();
  return is_complex(i.shape.type) ? 4 * size : size;
}

int32_t code_size(const Region& region) {
  int32_t size = 0;
  for (const Instruction* op : region.ops) size += code_size(*op);
  return size;
}

double cost(const Region& region) {
  const Footprint f = footprint(region);
  return std::max(f.arithmetic_ns / 2, static_cast<double>(f.bytes_read + f.bytes_written) * kNsPerByte / 2) +
         kNsPerKernel;
}

}  // namespace lowtide
