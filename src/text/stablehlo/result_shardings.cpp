// The shardings that a function states for its results.
#include <fmt/format.h>

#include "ops/attribute_text.h"
#include "text/stablehlo/module_maker.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kMark = "xla.sdy.FuncResultSharding";

bool is_marked(const Instruction& i) {
  const auto* call = i.if_as<CustomCallAttributes>();
  return call && call->target == kMark;
}

}  // namespace

Status ModuleMaker::mark_results(Scope& scope, const MlirOperation& function, std::vector<Instruction*>& results) {
  for (size_t r = 0; r < std::min(results.size(), function.result_attributes.size()); ++r) {
    const MlirAttribute* sharding = find_attribute(function.result_attributes[r], "sdy.sharding");
    if (!sharding || is_marked(*results[r])) continue;
    const std::string_view text = values_.resolve(*sharding).text;
    const size_t open = text.find('<');
    if (open == std::string_view::npos) return values_.fault(*sharding, "expected '#sdy.sharding<...>'");
    LT_ASSIGN_OR_RETURN(Instruction * mark,
                        add(scope, MlirOperation{}, Opcode::kCustomCall, results[r]->shape, {results[r]},
                            {{"custom_call_target", quote(kMark)}, {"custom_call_has_side_effect", "true"}}));
    mark->frontend_attributes =
        "{xla.sdy.sharding=" + quote(fmt::format("#sdy.sharding_per_value<[{}]>", text.substr(open))) + '}';
    mark->place = results[r]->place;
    mark->metadata = results[r]->metadata;
    results[r] = mark;
  }
  return {};
}

Status ModuleMaker::shard_results(Scope& scope, const MlirOperation& function) {
  std::vector<Sharding> parts(function.types.size());
  bool any = false;
  for (size_t r = 0; r < parts.size(); ++r) {
    parts[r].text = "{replicated}";  // for results without a sharding, as XLA writes it
    if (r >= function.result_attributes.size()) continue;
    const MlirAttribute* named = find_attribute(function.result_attributes[r], "sdy.sharding");
    const MlirAttribute* stated = find_attribute(function.result_attributes[r], "mhlo.sharding");
    std::string text;
    if (stated) {
      LT_ASSIGN_OR_RETURN(text, values_.string(*stated));
    } else if (named) {
      text = hlo_sharding_of_shardy(values_.resolve(*named).text, syntax_);
    }
    if (text.empty()) continue;
    Result<Sharding> sharding = parse_sharding(text);
    if (!sharding.ok()) return values_.fault(stated ? *stated : *named, "sharding: " + sharding.status().message());
    any = true;
    parts[r] = sharding.take();
  }
  if (!any) return {};
  Instruction*& root = scope.computation->root;
  if (parts.size() == 1 && root->sharding && root->sharding->text == parts[0].text) return {};
  if (parts.size() == 1) {
    // The value's own instruction may have another sharding, so the root becomes a new instruction.
    LT_ASSIGN_OR_RETURN(Instruction * tuple,
                        add(scope, MlirOperation{}, Opcode::kTuple, Shape::tuple({root->shape}), {root}));
    LT_ASSIGN_OR_RETURN(
        root, add(scope, MlirOperation{}, Opcode::kGetTupleElement, Shape(root->shape), {tuple}, {{"index", "0"}}));
    root->sharding = std::make_shared<const Sharding>(std::move(parts[0]));
    return {};
  }
  Sharding all;
  all.kind = ShardingKind::kTuple;
  for (const Sharding& part : parts) all.text += (all.text.empty() ? "{" : ", ") + part.text;
  all.text += '}';
  all.parts = std::move(parts);
  root->sharding = std::make_shared<const Sharding>(std::move(all));
  return {};
}

}  // namespace lowtide::engine
