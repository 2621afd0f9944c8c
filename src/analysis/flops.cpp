#include "analysis/flops.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/evaluations.h"

namespace lowtide::engine {
namespace {

class Counter {
 public:
  double of(const Computation& computation) {
    if (const auto known = counted_.find(&computation); known != counted_.end()) return known->second;
    double sum = 0;
    for (const auto& i : computation.instructions()) sum += of(*i);
    return counted_[&computation] = sum;  // cached, since nested calls could visit it very often
  }

 private:
  double of(const Instruction& i) {
    double inner = 0, dearest = 0;
    for (const Computation* called : i.called) {
      inner += of(*called);
      dearest = std::max(dearest, of(*called));
    }
    const double elements = elements_of(i.shape);
    switch (i.opcode) {
      case Opcode::kWhile: return guessed_trips(i) * inner;
      case Opcode::kConditional: return dearest;
      case Opcode::kDot:
      case Opcode::kConvolution: return 2 * terms_of(i) * elements;
      case Opcode::kReduce:
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter: return terms_of(i) * elements * inner;
      case Opcode::kScatter: return elements_of(i.operands.back()->shape) * inner;
      case Opcode::kSort: return elements * std::log2(std::max(2.0, elements)) * inner;
      case Opcode::kMap: return elements * inner;
      default: return memory_class(i.opcode) == MemoryClass::kElementwise ? elements : inner;
    }
  }

  std::unordered_map<const Computation*, double> counted_;
};

}  // namespace

double flops_of(const Module& module) { return Counter().of(*module.entry); }

}  // namespace lowtide::engine
