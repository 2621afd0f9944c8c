#include "nest/functions.h"

namespace lowtide::engine {

std::shared_ptr<const Function> combine_apart(const Function& a, const Function& b, int32_t first, int32_t second) {
  auto all = std::make_shared<Function>();
  all->argument_count = a.argument_count + b.argument_count;
  const auto add = [&](const Function& one, int32_t slots, int32_t before) {
    const auto offset = static_cast<NodeId>(all->nodes.size());
    for (Node node : one.nodes) {
      if (node.kind == NodeKind::kArgument) {
        const bool is_other = node.slot >= slots;
        node.slot += before + (is_other ? first + second - slots : 0);
      }
      for (NodeId& operand : node.operands) operand += offset;
      for (Affine::Term& term : node.affine.terms) term.atom += offset;
      all->nodes.push_back(std::move(node));
    }
    for (const NodeId result : one.results) all->results.push_back(offset + result);
  };
  add(a, first, 0);
  add(b, second, first);
  return all;
}

}  // namespace lowtide::engine
