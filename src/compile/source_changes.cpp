#include "compile/source_changes.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/account.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/inline_bodies.h"
#include "passes/pass.h"
#include "passes/rules/gather_one_hot_products.h"
#include "passes/rules/maker.h"
#include "passes/rules/scatter_one_hot_gradients.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLeastWorthSaying = 50;  ///< of the peak
constexpr int kMostMoves = 8;              ///< between a product and the compare that makes its one-hot rows
constexpr size_t kSmallBody = 16;          ///< instructions of a called computation that compares ids with an iota

bool only_moves(const Instruction& i) {
  return i.opcode == Opcode::kReshape || i.opcode == Opcode::kTranspose || i.opcode == Opcode::kBitcast ||
         i.opcode == Opcode::kConvert || i.opcode == Opcode::kCopy || i.opcode == Opcode::kBroadcast;
}

/// The value of which this one is a moved, converted or broadcast copy.
const Instruction& moved_from(const Instruction& value) {
  const Instruction* at = &value;
  for (int k = 0; k < kMostMoves && only_moves(*at) && at->operands.size() == 1; ++k) at = at->operands[0];
  return *at;
}

/// Is it `iota == ids`, only moved and converted, without masks and factors?
bool is_plain_one_hot(const Instruction& value) {
  const Instruction& made = moved_from(value);
  const auto* compare = made.if_as<CompareAttributes>();
  if (compare == nullptr || compare->direction != CompareDirection::kEq) return false;
  const bool left = moved_from(*made.operands[0]).opcode == Opcode::kIota;
  const bool right = moved_from(*made.operands[1]).opcode == Opcode::kIota;
  return left != right;
}

bool compares_with_iota(const Computation& body) {
  if (body.instructions().size() > kSmallBody) return false;
  const auto has = [&](Opcode opcode) {
    return std::ranges::any_of(body.instructions(), [&](const auto& i) { return i->opcode == opcode; });
  };
  return has(Opcode::kIota) && has(Opcode::kCompare);
}

/// Might there be look-ups? Most modules have none; this avoids copying large ones to find out.
bool may_look_up(const Module& module) {
  const auto is_hot = [](const Instruction* operand) {
    const Instruction& made = moved_from(*operand);
    const bool called = made.opcode == Opcode::kCall && made.called.size() == 1 && compares_with_iota(*made.called[0]);
    return called || is_plain_one_hot(made);
  };
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kDot && std::ranges::any_of(i->operands, is_hot)) return true;
    }
  }
  return false;
}

/// Products by name, and whether each is one of a table with plain one-hot rows, one sum and no batches.
std::map<std::string, bool> products_of(const Module& module) {
  std::map<std::string, bool> products;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      const auto* dot = i->if_as<DotAttributes>();
      if (dot == nullptr || i->operands.size() != 2) continue;
      const bool hot = is_plain_one_hot(*i->operands[0]) != is_plain_one_hot(*i->operands[1]);
      products[computation->name + "/" + i->name] = hot && dot->lhs_batch_dims.empty();
    }
  }
  return products;
}

std::set<std::string> names_of(const Module& module) {
  std::set<std::string> names;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) names.insert(computation->name + "/" + i->name);
  }
  return names;
}

/// Rewrites a scatter to what JAX traces for the gradient of table[ids]: a sum in the type of the rows, in the table's
/// dimension order. Our scatters add in f32 and replace a product that a transpose follows.
Instruction* as_traced(Instruction& i, Maker& maker) {
  if (i.operands.size() != 1) return nullptr;
  Instruction& x = *i.operands[0];
  if (i.opcode == Opcode::kTranspose && x.opcode == Opcode::kTranspose) {
    const Dims& outer = i.as<DimensionsAttributes>().dimensions;
    const Dims& inner = x.as<DimensionsAttributes>().dimensions;
    for (size_t d = 0; d < outer.size(); ++d) {
      if (inner[outer[d]] != static_cast<int64_t>(d)) return nullptr;
    }
    return x.operands[0];
  }
  if (i.opcode != Opcode::kConvert || x.opcode != Opcode::kScatter || x.operands.size() != 3) return nullptr;
  if (logical_bytes(i.shape) >= logical_bytes(x.shape)) return nullptr;
  const Instruction& updates = *x.operands[2];
  const ElementType type = i.shape.type;
  if (updates.opcode != Opcode::kConvert || updates.operands[0]->shape.type != type) return nullptr;
  Instruction* zeros = maker.filled(type, i.shape.dims, 0);
  Instruction* sum = maker.like(x, Shape::array(type, i.shape.dims), {zeros, x.operands[1], updates.operands[0]});
  sum->called = {maker.addition(type)};
  return sum;
}

}  // namespace

Result<std::vector<PlannedSourceChange>> source_changes(const Module& module, const Target& target, int64_t peak) {
  std::vector<PlannedSourceChange> changes;
  if (module.is_scheduled || !may_look_up(module)) return changes;
  const std::unique_ptr<Module> edited = module.clone();
  // All else stays unchanged, so that both accounts differ only in this.
  inline_bodies(*edited, [](const Instruction& i) {
    return i.opcode == Opcode::kCall && i.called.size() == 1 && compares_with_iota(*i.called[0]);
  });
  const std::map<std::string, bool> before = products_of(*edited);
  if (std::ranges::none_of(before, [](const auto& product) { return product.second; })) return changes;
  const std::vector<Pass> rows = {
      {"gather-one-hot-products", gather_one_hot_products, Numerics::kValueExact, ""},
      {"scatter-one-hot-gradients", scatter_one_hot_gradients, Numerics::kReassociated, ""},
      {"as-traced", [](Module& m) { return rewrite_each(m, as_traced, "operations as traced"); },
       Numerics::kReassociated, ""},
      {"remove-dead-code", remove_dead_code, Numerics::kExact, ""},
  };
  LT_RETURN_IF_ERROR(run_passes(*edited, rows, target, {.quiet = true}).status());
  const std::map<std::string, bool> after = products_of(*edited);
  for (const auto& [name, is_look_up] : before) {
    if (!is_look_up && !after.contains(name)) return changes;
  }
  const int64_t lower = account_for(*edited, AccountMode::kAsGiven).peak_bytes();
  if (lower > peak - peak / kLeastWorthSaying) return changes;
  PlannedSourceChange change;
  change.what = "gather the rows instead of multiplying by one-hot rows";
  change.in_source = {"table[ids] for one_hot(ids) @ table, where all ids lie within the table", peak, lower};
  const std::set<std::string> left = names_of(*edited);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (!left.contains(computation->name + "/" + i->name)) change.removes.push_back({computation->name, i->name});
    }
  }
  changes.push_back(std::move(change));
  return changes;
}

}  // namespace lowtide::engine
