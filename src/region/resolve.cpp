#include "analysis/leaves.h"
#include "region/region.h"

namespace lowtide::engine {

LeafRef resolve(LeafRef leaf) {
  for (;;) {
    const Instruction& i = *leaf.instruction;
    switch (i.opcode) {
      case Opcode::kGetTupleElement: {
        const Instruction& bundle = i.operand(0);
        const int64_t before = leaf_offset(bundle.shape, i.as<TupleIndexAttributes>().index);
        leaf = {&bundle, leaf.leaf + static_cast<int32_t>(before)};
        break;
      }
      case Opcode::kTuple: {
        size_t part = 0;
        int64_t rest = leaf.leaf;
        for (; part < i.operands.size(); ++part) {
          const int64_t leaves = leaf_count(i.operands[part]->shape);
          if (rest < leaves) break;
          rest -= leaves;
        }
        LT_ASSERT(part < i.operands.size(), "the tuple " + i.name + " has no leaf of that number");
        leaf = {i.operands[part], static_cast<int32_t>(rest)};
        break;
      }
      case Opcode::kOptBarrier:
      case Opcode::kDomain:
      case Opcode::kAddDependency: leaf = {&i.operand(0), leaf.leaf}; break;
      default: return leaf;
    }
  }
}

}  // namespace lowtide::engine
