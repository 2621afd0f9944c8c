#include "compile/interpreted_time.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/evaluations.h"
#include "analysis/trip_count.h"
#include "ops/solver_terms.h"

namespace lowtide::engine {
namespace {

constexpr double kNsPerInstruction = 500;
constexpr double kNsPerElement = 1.5;
constexpr double kNsPerCall = 20;  ///< of a reducer or comparator, unless it is a recognised one
constexpr double kUnknownTrips = 16;

class Estimate {
 public:
  double of(const Computation& computation) {
    const auto [known, fresh] = known_.try_emplace(&computation, 0);
    if (!fresh) return known->second;
    double ns = 0;
    for (const auto& i : computation.instructions()) ns += of(*i);
    return known_[&computation] = ns;
  }

 private:
  double of(const Instruction& i) {
    double elements = 0;
    for_each_leaf(i.shape, [&](const ShapeIndex&, const Shape& leaf) {
      if (leaf.is_array()) elements += elements_of(leaf);
    });
    double called = 0;
    for (const Computation* computation : i.called) called += of(*computation);
    switch (i.opcode) {
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
      case Opcode::kParameter: return kNsPerInstruction;
      case Opcode::kWhile: {
        const auto count = trip_count(i);
        return called * (count ? static_cast<double>(count->trips) : kUnknownTrips);
      }
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kConditional: return called;
      default: break;
    }
    double terms = memory_class(i.opcode) == MemoryClass::kContract ? std::max(1.0, terms_of(i)) : 1;
    if (i.opcode == Opcode::kReduce) terms = std::max(1.0, elements_of(i.operand(0).shape) / std::max(1.0, elements));
    if (i.opcode == Opcode::kScatter) elements += elements_of(i.operands.back()->shape);
    return kNsPerInstruction + solver_work(i).terms * kNsPerElement +
           elements * terms * (i.called.empty() ? kNsPerElement : kNsPerCall);
  }

  std::unordered_map<const Computation*, double> known_;
};

}  // namespace

double interpreted_ns(const Module& module) { return Estimate().of(*module.entry); }

}  // namespace lowtide::engine
