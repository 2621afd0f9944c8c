#include "compile/source_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analysis/leaf_bytes.h"
#include "compile/plan_rows.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/in_place/slices.h"
#include "passes/recompute/offload.h"
#include "passes/recompute/recompute.h"
#include "passes/rules/saved_stacks.h"
#include "report/origin.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostNames = 6;  ///< in one sentence
constexpr const char* kPolicies = "jax.checkpoint_policies";

/// A value that a policy names, by the source line that computes it.
struct Named {
  std::string name, shape, source;
  int64_t bytes = 0;  ///< of all values on this line
  int64_t count = 0;
};

/// "mlp/wi_0" on line 42 -> "wi_0_42".
std::string name_of(const Origin& origin) {
  const std::string last = origin.scope.substr(origin.scope.rfind('/') + 1);
  std::string name;
  for (const char c : last) name += (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') ? c : '_';
  const size_t line = origin.source.rfind(':');
  return line == std::string::npos ? name : fmt::format("{}_{}", name, origin.source.substr(line + 1));
}

/// Values by source line, the largest first; values without a line are left out.
std::vector<Named> by_line(const Module& module, const std::vector<const Instruction*>& values) {
  std::map<std::string, Named> lines;
  for (const Instruction* i : values) {
    const Origin origin = own_origin(module, *i);
    if (origin.source.empty() || origin.scope.empty() || !i->shape.is_array()) continue;
    Named& named = lines[origin.source];
    const int64_t bytes = safe_logical_bytes(i->shape);
    if (named.count == 0 || bytes * named.count > named.bytes) {
      named.name = name_of(origin);
      named.shape = to_string(Shape::array(i->shape.type, i->shape.dims));
    }
    named.source = origin.source;
    named.bytes += bytes;
    ++named.count;
  }
  std::vector<Named> all;
  for (auto& [line, named] : lines) all.push_back(std::move(named));
  std::ranges::stable_sort(all, std::ranges::greater(), &Named::bytes);
  if (all.size() > kMostNames) all.resize(kMostNames);
  return all;
}

std::string listed(const std::vector<Named>& all) {
  std::vector<std::string> names, places;
  for (const Named& named : all) {
    names.push_back('"' + named.name + '"');
    const std::string count = named.count > 1 ? fmt::format(", {} times", named.count) : "";
    places.push_back(
        fmt::format("checkpoint_name(x, \"{}\") at {} ({}{})", named.name, named.source, named.shape, count));
  }
  return fmt::format("({}), with {}", fmt::join(names, ", "), fmt::join(places, "; "));
}

std::string sentence_of(const Module& module, const StacksChoice& choice) {
  const Instruction* loop = find_named(module, choice.loop);
  if (loop == nullptr || loop->called.size() < 2) return {};
  const Origin origin = own_origin(module, *loop);
  std::vector<const Instruction*> kept;
  bool makes = false;
  for (const auto& i : loop->called[1]->instructions()) {
    const auto known = choice.choices.find(i->name);
    if (known == choice.choices.end()) continue;
    makes |= known->second == KeepOrMake::Choice::kMake;
    // Every checkpoint saves what an iteration starts with.
    if (known->second == KeepOrMake::Choice::kKeep && i->opcode != Opcode::kGetTupleElement) kept.push_back(i.get());
  }
  if (!makes) return {};
  const std::string where = origin.source.empty() ? "%" + loop->name : origin.source;
  const std::vector<Named> names = by_line(module, kept);
  if (names.empty())
    return fmt::format("jax.checkpoint(body) for the loop at {}: of a trip only what it begins with is saved", where);
  return fmt::format("jax.checkpoint(body, policy={}.save_only_these_names{}) for the loop at {}", kPolicies,
                     listed(names), where);
}

/// For a stack: the value in the loop that fills it; any other value is returned unchanged.
const Instruction* stacked(const Instruction* i) {
  if (i->opcode != Opcode::kGetTupleElement || i->operand(0).opcode != Opcode::kWhile) return i;
  const Instruction& root = *i->operand(0).called.at(1)->root;
  const auto element = static_cast<size_t>(i->as<TupleIndexAttributes>().index);
  if (root.opcode != Opcode::kTuple || root.operand(element).opcode != Opcode::kDynamicUpdateSlice) return i;
  return behind_reshapes(root.operand(element).operands[1]);
}

std::string sentence_of(const Module& module, const std::vector<Offloaded>& done) {
  std::vector<const Instruction*> moved;
  for (const Offloaded& one : done) {
    for (const auto& i : module.entry->instructions()) {
      if (i->name == one.value) moved.push_back(stacked(i.get()));
    }
  }
  const std::vector<Named> names = by_line(module, moved);
  if (names.empty()) return {};
  return fmt::format(
      "jax.checkpoint(body, policy={}.save_and_offload_only_these_names(names_which_can_be_saved=[], "
      "offload_src=\"device\", offload_dst=\"pinned_host\", names_which_can_be_offloaded=...)) for {}",
      kPolicies, listed(names));
}

}  // namespace

Result<std::vector<std::string>> source_words(const Planner& planner, const Decisions& decisions) {
  std::vector<std::string> all;
  if (!planner.shared().name.starts_with("jit_")) return all;  // other frameworks' sources have other terms
  const std::unique_ptr<Module> module = planner.shared().clone();
  bool in_groups = false;
  // Recomputation among streams can't be expressed in the source, since streams can't.
  for (const Decision& decision : std::span(decisions).first(first_stream(decisions))) {
    if (const auto* every = std::get_if<SaveEvery>(&decision)) {
      const bool of_groups = std::exchange(in_groups, true);
      all.push_back(fmt::format(
          "a scan over groups of {0} {1}, each jax.checkpoint of a scan over its {2}: what {2} begin with is "
          "saved once for each group",
          every->grouping.k, of_groups ? "of these groups" : "trips", of_groups ? "groups" : "trips"));
    }
    if (const auto* offloaded = std::get_if<Offload>(&decision)) {
      const std::unique_ptr<Module> before = module->clone();
      std::vector<Offloaded> done;
      LT_RETURN_IF_ERROR(offload(*module, offloaded->count, &done).status());
      if (std::string sentence = sentence_of(*before, done); !sentence.empty()) all.push_back(std::move(sentence));
    }
    const auto* again = std::get_if<Recompute>(&decision);
    if (again == nullptr) continue;
    const std::unique_ptr<Module> before = module->clone();
    Recomputed done;
    LT_RETURN_IF_ERROR(recompute(*module, planner.target(), again->price, &done).status());
    for (const StacksChoice& choice : done.stacks) {
      if (std::string sentence = sentence_of(*before, choice); !sentence.empty()) all.push_back(std::move(sentence));
    }
    std::set<std::string> names;
    for (const MadeAgain& moment : done.moments) names.insert(moment.made.begin(), moment.made.end());
    for (const MadeInRoom& step : done.in_room) names.insert(step.value);
    std::vector<const Instruction*> made;
    for (const auto& i : before->entry->instructions()) {
      if (names.contains(i->name)) made.push_back(i.get());
    }
    if (const std::vector<Named> named = by_line(*before, made); !named.empty()) {
      all.push_back(
          fmt::format("jax.checkpoint(f, policy={}.save_anything_except_these_names{}) around what the gradient is of",
                      kPolicies, listed(named)));
    }
  }
  std::ranges::stable_sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

}  // namespace lowtide::engine
