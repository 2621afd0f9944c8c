#include "passes/each_device.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/partitioning.h"
#include "ops/sharding_calls.h"

namespace lowtide::engine {
namespace {

/// The text between the quotes of `key="..."` in frontend attributes; empty if the key is absent.
std::string_view quoted(std::string_view attributes, std::string_view key) {
  const size_t at = attributes.find(key);
  if (at == attributes.npos || attributes.substr(at + key.size(), 2) != "=\"") return {};
  const size_t begin = at + key.size() + 2;
  size_t end = begin;
  while (end < attributes.size() && attributes[end] != '"') end += attributes[end] == '\\' ? 2 : 1;
  return attributes.substr(begin, std::min(end, attributes.size()) - begin);
}

/// Splits `#sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>]>` into its parts `<@...>`.
std::vector<std::string_view> shardings_of(std::string_view text) {
  std::vector<std::string_view> all;
  for (size_t at = text.find("<@"); at != text.npos; at = text.find("<@", at + 1)) {
    const size_t end = text.find('>', at);
    if (end == text.npos) return {};
    all.push_back(text.substr(at, end + 1 - at));
  }
  return all;
}

/// The names of the axes of all meshes: `@mesh = #sdy.mesh<["x"=4, "y"=2]>`.
std::vector<std::string_view> axes_of(std::string_view meshes) {
  std::vector<std::string_view> names;
  for (size_t at = meshes.find("\"="); at != meshes.npos; at = meshes.find("\"=", at + 1)) {
    const size_t begin = at == 0 ? meshes.npos : meshes.rfind('"', at - 1);
    if (begin != meshes.npos) names.push_back(meshes.substr(begin + 1, at - begin - 1));
  }
  return names;
}

bool names_devices(const Instruction& i) {
  return memory_class(i.opcode) == MemoryClass::kCollective || i.opcode == Opcode::kPartitionId ||
         part_side(i) != PartSide::kNeither;
}

/// An array of the entry, as one device holds it.
struct Part {
  Instruction* here = nullptr;
  std::string_view sharding;  ///< of the whole array
  bool is_whole = false;      ///< outside of manual regions
  bool is_stated = false;     ///< the program states how the array is divided
};

class EachDevice {
 public:
  explicit EachDevice(Module& module) : module_(module) {}

  bool run() {
    if (!is_region_alone() || !follow()) return false;
    const auto root = parts_.find(module_.entry->root);
    if (root == parts_.end() || !can_return(root->second)) return false;
    for (Instruction* parameter : module_.entry->parameters()) {
      if (!parameter || !is_settled(*parameter)) return false;
    }
    rewrite(root->second);
    return true;
  }

  /// Did run() fail only because the program doesn't state how a result is divided?
  bool leaves_a_result_open() const { return is_open_; }

 private:
  /// Are all regions manual along all axes of the meshes, without collectives, device ids or regions inside them?
  bool is_region_alone() {
    const std::vector<std::string_view> axes = axes_of(module_.frontend_attributes);
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        if (computation.get() != module_.entry) {
          if (names_devices(*i)) return false;
          continue;
        }
        if (!i->control_predecessors.empty()) return false;
        if (part_side(*i) == PartSide::kNeither) continue;
        const std::string_view manual = quoted(i->frontend_attributes, "xla.sdy.manual_axes");
        const auto is_manual = [&](std::string_view axis) {
          return manual.find("\\\"" + std::string(axis) + "\\\"") != manual.npos;
        };
        if (axes.empty() || !std::ranges::all_of(axes, is_manual)) return false;
      }
    }
    return true;
  }

  bool follow() {
    return std::ranges::all_of(module_.entry->instructions(), [&](const auto& i) { return follow(*i); });
  }

  bool follow(Instruction& i) {
    std::vector<Part>& made = parts_[&i];
    std::vector<Part> given;
    for (const Instruction* operand : i.operands) {
      const std::vector<Part>& all = parts_.at(operand);
      if (i.opcode != Opcode::kGetTupleElement && all.size() != 1) return false;
      given.insert(given.end(), all.begin(), all.end());
    }
    switch (i.opcode) {
      case Opcode::kParameter: {
        const std::vector<std::string_view> said = shardings_of(quoted(i.frontend_attributes, "xla.sdy.sharding"));
        if (!i.shape.is_array() || said.size() != 1) return false;
        made = {{&i, said[0], true}};
        return true;
      }
      case Opcode::kGetTupleElement: {
        const auto index = static_cast<size_t>(i.as<TupleIndexAttributes>().index);
        if (index >= given.size() || !i.shape.is_array()) return false;
        made = {given[index]};
        if (made[0].here == i.operands[0]) made[0].here = &i;  // an element of a call's result
        return true;
      }
      case Opcode::kTuple: made = std::move(given); return true;
      case Opcode::kCall: {
        if (std::ranges::any_of(given, &Part::is_whole)) return false;
        made.assign(i.shape.is_tuple() ? i.shape.elements.size() : 1, {&i, {}, false});
        return true;
      }
      case Opcode::kCustomCall: return cross(i, std::move(given), made);
      default: return false;
    }
  }

  /// Follows a region's boundary or a sharding annotation: the array must already be divided as stated there.
  bool cross(Instruction& i, std::vector<Part> given, std::vector<Part>& made) {
    if (!names_its_operands(i)) return false;
    const PartSide side = part_side(i);
    const char* const key = side == PartSide::kResults    ? "xla.sdy.in_shardings"
                            : side == PartSide::kOperands ? "xla.sdy.out_shardings"
                                                          : "xla.sdy.sharding";
    const std::vector<std::string_view> said = shardings_of(quoted(i.frontend_attributes, key));
    if (said.size() != given.size()) return false;
    for (size_t k = 0; k < given.size(); ++k) {
      Part& part = given[k];
      if (part.is_whole == (side == PartSide::kOperands)) return false;
      if (side != PartSide::kOperands && part.sharding != said[k]) return false;
      const Shape& shape = i.shape.is_tuple() ? i.shape.elements[k] : i.shape;
      if (side == PartSide::kResults && !take_shape(*part.here, shape)) return false;
      part.is_whole = side != PartSide::kResults;
      part.is_stated = side == PartSide::kNeither;
      part.sharding = said[k];
    }
    made = std::move(given);
    return true;
  }

  /// Does the value have this shape? An argument takes the shape of the part that a region reads.
  bool take_shape(const Instruction& value, const Shape& shape) {
    if (value.opcode != Opcode::kParameter) return same_shape(value.shape, shape);
    return same_shape(shapes_.try_emplace(&value, shape).first->second, shape);
  }

  /// Does the caller know how each result is divided? Either the program states it, or each device has all of it.
  bool can_return(const std::vector<Part>& results) {
    const Shape& root = module_.entry->root->shape;
    for (size_t r = 0; r < results.size(); ++r) {
      const Shape& all = root.is_tuple() ? root.elements[r] : root;
      const auto known = shapes_.find(results[r].here);
      const Shape& part = known != shapes_.end() ? known->second : results[r].here->shape;
      is_open_ = results[r].is_whole && !results[r].is_stated && !same_shape(all, part);
      if (!results[r].is_whole || is_open_) return false;
    }
    return true;
  }

  /// An argument that no region reads must be replicated.
  bool is_settled(const Instruction& parameter) const {
    return shapes_.contains(&parameter) ||
           (parameter.sharding && parameter.sharding->kind == ShardingKind::kReplicated);
  }

  void rewrite(const std::vector<Part>& results) {
    Computation& entry = *module_.entry;
    std::unordered_set<const Instruction*> kept;
    for (const auto& i : entry.instructions()) {
      if (i->opcode == Opcode::kParameter) {
        if (const auto shape = shapes_.find(i.get()); shape != shapes_.end()) i->shape = shape->second;
        i->frontend_attributes.clear();
      } else if (i->opcode == Opcode::kCall) {
        for (Instruction*& operand : i->operands) operand = parts_.at(operand)[0].here;
        i->frontend_attributes.clear();
      } else if (i->opcode != Opcode::kGetTupleElement || parts_.at(i.get())[0].here != i.get()) {
        continue;
      }
      i->sharding = nullptr;
      kept.insert(i.get());
    }
    Instruction& root = *entry.root;
    if (root.shape.is_tuple()) {  // covers results of boundary calls, too
      root.opcode = Opcode::kTuple;
      root.attributes = {};
      root.frontend_attributes.clear();
      root.sharding = nullptr;
      root.operands.clear();
      for (size_t r = 0; r < results.size(); ++r) {
        root.operands.push_back(results[r].here);
        root.shape.elements[r] = results[r].here->shape;
      }
      kept.insert(&root);
    } else {
      entry.root = results[0].here;
    }
    entry.remove_if([&](const Instruction& i) { return !kept.contains(&i); });
    module_.num_partitions.reset();
    module_.entry_layout.reset();
    module_.frontend_attributes.clear();  // the meshes
  }

  Module& module_;
  bool is_open_ = false;
  std::unordered_map<const Instruction*, std::vector<Part>> parts_;
  std::unordered_map<const Instruction*, Shape> shapes_;  ///< of arguments, on one device
};

}  // namespace

Status become_one_of_many(Module& module) {
  std::string why = why_of_many(module);
  if (why.empty()) return {};
  EachDevice each(module);
  if (each.run()) return {};
  if (each.leaves_a_result_open())
    why += "; it leaves open how a result is divided, which out_shardings of jax.jit says";
  return Status::unsupported(std::move(why));
}

}  // namespace lowtide::engine
