#include "analysis/partitioning.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "ir/kept_calls.h"
#include "ops/sharding_calls.h"
#include "ops/text_cursor.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kStated = "lowtide.parts=\"";
constexpr int64_t kMostDevices = int64_t{1} << 30;  ///< larger numbers are rejected as mistakes

bool is_tiled(const Sharding& sharding) {
  if (sharding.kind == ShardingKind::kTuple) return std::ranges::any_of(sharding.parts, is_tiled);
  return sharding.kind == ShardingKind::kTiled;
}

const CustomCallAttributes* sharding_call(const Instruction& i) {
  const auto* a = i.if_as<CustomCallAttributes>();
  return a && is_sharding_target(a->target) ? a : nullptr;
}

/// The number of devices of the largest mesh in the header: `mesh = #sdy.mesh<["x"=4, "y"=2]>`. 0: there is none.
int64_t devices_of_meshes(const Module& module) {
  constexpr std::string_view kMesh = "#sdy.mesh<[";
  const std::string& text = module.frontend_attributes;
  int64_t most = 0;
  if (text.find("xla.sdy.meshes") == std::string::npos) return 0;
  for (size_t at = text.find(kMesh); at != std::string::npos; at = text.find(kMesh, at + 1)) {
    const size_t end = text.find(']', at);
    if (end == std::string::npos) break;
    int64_t devices = 1;
    for (size_t is = text.find('=', at); is < end; is = text.find('=', is + 1)) {
      const std::optional<int64_t> size = TextCursor(std::string_view(text).substr(is + 1, end - is - 1)).integer();
      if (size && *size > 0 && *size <= kMostDevices / devices) devices *= *size;
    }
    most = std::max(most, devices);
  }
  return most;
}

/// Is the program not partitioned yet? After partitioning shapes are per device, and at most parameters have shardings.
bool is_before_partitioner(const Module& module) {
  if (module.is_scheduled || !module.entry || module.entry->name.ends_with("_spmd")) return false;
  if (devices_of_meshes(module) > 0) return true;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (sharding_call(*i)) return true;
      if (i->frontend_attributes.find("xla.sdy.sharding") != std::string::npos) return true;
      if (i->sharding && is_tiled(*i->sharding) && i->opcode != Opcode::kParameter) return true;
    }
  }
  return false;
}

/// The number of devices among which the program is, or will be, partitioned.
int64_t devices_of(const Module& module) {
  if (module.num_partitions) return std::max<int64_t>(1, *module.num_partitions);
  return is_before_partitioner(module) ? std::max<int64_t>(1, devices_of_meshes(module)) : 1;
}

const Sharding* part_of(const Sharding* sharding, int32_t leaf) {
  if (!sharding || sharding->kind != ShardingKind::kTuple) return sharding;
  return leaf < static_cast<int32_t>(sharding->parts.size()) ? &sharding->parts[leaf] : nullptr;
}

/// Is the sharding open, as in `[{"x", ?}, {?}]`, so that the partitioner may divide it further?
bool is_open(const Instruction& i) {
  return i.frontend_attributes.find("xla.sdy") != std::string::npos &&
         i.frontend_attributes.find('?') != std::string::npos;
}

Dims parts_of(const Sharding& sharding, int64_t rank) {
  Dims parts;
  for (int64_t d = 0; d < rank; ++d) parts.push_back(std::max<int64_t>(1, sharding.parts_of(d)));
  return parts;
}

/// The instruction and leaf that compute a result of the entry, found through tuples.
std::pair<const Instruction*, int32_t> origin_of(const Instruction* i, int32_t leaf) {
  while (i->opcode == Opcode::kTuple || i->opcode == Opcode::kGetTupleElement) {
    if (i->opcode == Opcode::kGetTupleElement) {
      leaf += static_cast<int32_t>(leaf_offset(i->operand(0).shape, i->as<TupleIndexAttributes>().index));
      i = i->operands[0];
      continue;
    }
    const Instruction* holder = nullptr;
    for (const Instruction* operand : i->operands) {
      const auto count = static_cast<int32_t>(leaf_count(operand->shape));
      if (leaf < count) {
        holder = operand;
        break;
      }
      leaf -= count;
    }
    if (!holder) return {i, 0};
    i = holder;
  }
  return {i, leaf};
}

std::string plural(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

class FindPartitioning {
 public:
  FindPartitioning(const Module& module, std::vector<std::string>& warnings) : module_(module), warnings_(warnings) {}

  Partitioning run() {
    if (const std::optional<EntryParts> stated = stated_parts(module_)) {
      out_.devices_ = stated->devices;
      table_ = std::make_shared<PartTable>(module_, out_.devices_);
      state_entry_parts(*stated);
      state_shardings();
      table_->spread();
      out_.parts_ = table_;
      return out_;
    }
    const bool global = is_before_partitioner(module_);
    shardy_ = devices_of_meshes(module_) > 0;
    out_.devices_ = devices_of(module_);
    warn_of_contradictions();
    if (out_.devices_ > 1 && !global) warn_if_unsure();
    if (out_.devices_ <= 1 || !global) return out_;
    table_ = std::make_shared<PartTable>(module_, out_.devices_);
    state_arguments();
    state_results();
    state_shardings();
    table_->spread();
    settle_results();
    if (!table_->divides() && !has_manual_regions(module_)) return out_;  // every device has whole arrays
    out_.parts_ = table_;
    warn_of_global_shapes();
    return out_;
  }

 private:
  void warn_of_contradictions() {
    std::map<int64_t, int64_t> count_by_devices;
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        if (i->sharding && is_tiled(*i->sharding)) ++count_by_devices[i->sharding->device_count()];
      }
    }
    const std::string declared =
        module_.num_partitions ? plural(*module_.num_partitions, "partition") : "no partitions";
    for (const auto& [devices, count] : count_by_devices) {
      if (devices == out_.devices_ || (devices <= 1 && out_.devices_ <= 1)) continue;
      warnings_.push_back(
          fmt::format("{} name{} {} devices but the header declares {}: sizes are as for {}", plural(count, "sharding"),
                      count == 1 ? "s" : "", devices, declared,
                      out_.devices_ > 1 ? fmt::format("one of {} devices", out_.devices_) : "one device"));
    }
    const int64_t meshes = devices_of_meshes(module_);
    if (count_by_devices.empty() && meshes > 1 && meshes != out_.devices_) {
      warnings_.push_back(
          fmt::format("the mesh names {} devices but the header declares {}: sizes are as for {}", meshes, declared,
                      out_.devices_ > 1 ? fmt::format("one of {} devices", out_.devices_) : "one device"));
    }
  }

  /// Warns unless the module is scheduled or its entry's name ends in _spmd, which shows that XLA has partitioned it.
  void warn_if_unsure() {
    if (module_.is_scheduled || !module_.entry || module_.entry->name.ends_with("_spmd")) return;
    const auto is_divided = [](const Instruction* p) { return p && p->sharding && is_tiled(*p->sharding); };
    const std::vector<Instruction*> parameters = module_.entry->parameters();
    out_.unsure_ = std::ranges::any_of(parameters, is_divided);
    if (!out_.unsure_) return;
    warnings_.push_back(
        "arguments alone have shardings: taken for a partitioner's result, with shapes of one device; before one, "
        "sizes would be less");
  }

  void state_entry_parts(const EntryParts& parts) {
    size_t next = 0;
    for (const Instruction* p : module_.entry->parameters()) {
      if (!p) continue;
      for (int32_t l = 0; l < leaf_count(p->shape) && next < parts.arguments.size(); ++l) {
        table_->state(*p, l, parts.arguments[next++], false);
      }
    }
    if (!module_.entry->root) return;
    for (int32_t l = 0; l < static_cast<int32_t>(parts.results.size()); ++l) {
      table_->state(*module_.entry->root, l, parts.results[l], false);
    }
  }

  void state_arguments() {
    for (const Instruction* p : module_.entry->parameters()) {
      if (!p) continue;
      for (int32_t l = 0; l < leaf_count(p->shape); ++l) {
        const Sharding* sharding = part_of(p->sharding.get(), l);
        const bool known =
            sharding && sharding->kind != ShardingKind::kUnknown && sharding->kind != ShardingKind::kTuple;
        const bool open = !known || is_open(*p);
        const Shape* leaf = leaf_shape(p->shape, l);
        if (!leaf->is_array()) continue;
        table_->state(*p, l, known ? parts_of(*sharding, leaf->rank()) : Dims(), open);
        if (!open || leaf->dims.empty()) continue;
        out_.open_.emplace_back(p->id, l);
        ++open_arguments_;
      }
    }
  }

  /// States the shardings of results, from the root and from the instructions that compute them.
  void state_results() {
    const Instruction* root = module_.entry->root;
    for (int32_t l = 0; root && l < leaf_count(root->shape); ++l) {
      const Sharding* sharding = part_of(root->sharding.get(), l);
      const Shape* leaf = leaf_shape(root->shape, l);
      if (!leaf->is_array() || leaf->dims.empty() || !sharding || sharding->kind == ShardingKind::kTuple ||
          sharding->kind == ShardingKind::kUnknown) {
        continue;
      }
      // A sharding call that leaves dimensions open states this only in its own attributes. Shardy writes results
      // without a sharding as replicated, and marks the others by a call.
      const auto [origin, at] = origin_of(root, l);
      const bool is_call = sharding_call(*origin) != nullptr;
      if (is_call ? is_open(*origin) : shardy_ && sharding->kind == ShardingKind::kReplicated) continue;
      table_->state(*root, l, parts_of(*sharding, leaf->rank()), false);
      stated_.push_back(l);
    }
  }

  void state_shardings() {
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        if (!i->sharding || (computation.get() == module_.entry && i->opcode == Opcode::kParameter)) continue;
        if (i.get() == module_.entry->root && !sharding_call(*i)) continue;
        for (int32_t l = 0; l < leaf_count(i->shape); ++l) {
          const Sharding* sharding = part_of(i->sharding.get(), l);
          const Shape* leaf = leaf_shape(i->shape, l);
          if (!sharding || !leaf->is_array()) continue;
          const bool says = sharding->kind == ShardingKind::kTiled ||
                            (sharding->kind == ShardingKind::kReplicated && sharding_call(*i));
          if (says) table_->state(*i, l, parts_of(*sharding, leaf->rank()), is_open(*i) || !sharding_call(*i));
        }
      }
    }
  }

  /// Results without a sharding get that of the value they return, if it divides them evenly, as in XLA's partitioners.
  void settle_results() {
    const Instruction* root = module_.entry->root;
    for (int32_t l = 0; root && l < leaf_count(root->shape); ++l) {
      const Shape* leaf = leaf_shape(root->shape, l);
      if (!leaf->is_array() || leaf->dims.empty() || std::ranges::find(stated_, l) != stated_.end()) continue;
      const auto [origin, at] = origin_of(root, l);
      const Dims parts = table_->of(*origin, at);
      for (size_t d = 0; d < parts.size(); ++d) {
        const bool even = parts[d] <= 1 || leaf->dims[d] % parts[d] == 0;
        table_->cut(*root, l, d, even ? std::max<int64_t>(1, parts[d]) : 1);
      }
      const bool said = sharding_call(*origin) && !is_open(*origin) &&
                        (origin->sharding || part_side(*origin) == PartSide::kOperands);
      out_.open_.emplace_back(root->id, l);
      open_results_ += !said;
    }
  }

  /// The bodies of regions that are manual along all axes, and the computations that they call.
  std::unordered_set<const Computation*> manual_regions() const {
    std::unordered_set<const Computation*> regions;
    std::vector<const Computation*> open;
    const auto add = [&](const Instruction& call) {
      for (const Computation* callee : call.called) {
        if (regions.insert(callee).second) open.push_back(callee);
      }
    };
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        if (!is_kept_call(*i)) continue;
        const auto is_partly = [&](const Instruction* operand) {
          while (operand->opcode == Opcode::kGetTupleElement) operand = operand->operands[0];
          return is_open(*operand);
        };
        if (std::ranges::none_of(i->operands, is_partly)) add(*i);
      }
    }
    while (!open.empty()) {
      const Computation* computation = open.back();
      open.pop_back();
      for (const auto& i : computation->instructions()) add(*i);
    }
    return regions;
  }

  void warn_of_global_shapes() {
    int64_t known = 0, total = 0, inside = 0;
    const std::unordered_set<const Computation*> manual = manual_regions();
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        if (i->opcode == Opcode::kTuple || i->opcode == Opcode::kGetTupleElement || !i->shape.is_array()) continue;
        if (i->shape.dims.empty() || i->opcode == Opcode::kParameter || sharding_call(*i)) continue;
        const bool local = manual.contains(computation.get());
        inside += local;
        total += !local;
        known += !local && table_->is_known(*i, 0);
      }
    }
    std::string computed;
    if (inside > 0) computed = "manual regions have the shapes of one device";
    if (total > 0) {
      computed += fmt::format(
          "{}of {}, sizes are divided where shardings are known or follow ({} of {} arrays), as written "
          "elsewhere",
          inside > 0 ? "; " : "", inside > 0 ? "the rest" : "what is computed", known, total);
    }
    warnings_.push_back(
        fmt::format("before partitioning over {} devices: arguments and results are those of one device{}{}",
                    out_.devices_, computed.empty() ? "" : "; ", computed));
    if (open_arguments_ > 0) {
      warnings_.push_back(fmt::format("{} without a sharding: taken whole, but the partitioner may divide {}",
                                      plural(open_arguments_, "argument"), open_arguments_ == 1 ? "it" : "them"));
    }
    if (open_results_ > 0) {
      warnings_.push_back(fmt::format("{} without a sharding: the partitioner chooses; taken as what {} made of",
                                      plural(open_results_, "result"), open_results_ == 1 ? "it is" : "they are"));
    }
  }

  const Module& module_;
  std::vector<std::string>& warnings_;
  std::shared_ptr<PartTable> table_;
  std::vector<int32_t> stated_;  ///< leaves of the result with a stated sharding
  int64_t open_arguments_ = 0, open_results_ = 0;
  bool shardy_ = false;
  Partitioning out_;
};

bool has_global_shapes(const Module& module) {
  return module.num_partitions.value_or(1) > 1 && is_before_partitioner(module);
}

LeafBytes Partitioning::of(const Instruction& instruction, int32_t leaf) const {
  const Shape* shape = leaf_shape(instruction.shape, leaf);
  if (!shape) return {};
  LeafBytes size = size_of(instruction, leaf, *shape);
  if (host_values_.contains(instruction, leaf)) size.memory_space = kHostMemory;
  return size;
}

LeafBytes Partitioning::size_of(const Instruction& instruction, int32_t leaf, const Shape& whole) const {
  if (!parts_ || !whole.is_array()) return leaf_bytes(whole);
  const Dims& parts = parts_->of(instruction, leaf);
  Shape part = whole;
  for (size_t d = 0; d < std::min(parts.size(), part.dims.size()); ++d) {
    if (parts[d] > 1 && part.dims[d] > 0) part.dims[d] = (part.dims[d] - 1) / parts[d] + 1;
  }
  return leaf_bytes(part);
}

LeafBytes Partitioning::least(const Instruction& instruction, int32_t leaf) const {
  LeafBytes bytes = of(instruction, leaf);
  if (unsure_) bytes.bytes /= devices_;
  const Shape* shape = leaf_shape(instruction.shape, leaf);
  if (!shape || std::ranges::find(open_, std::pair(instruction.id, leaf)) == open_.end()) return bytes;
  bytes.bytes = std::min(bytes.bytes, leaf_bytes(*shape).bytes / devices_);
  return bytes;
}

std::optional<EntryParts> Partitioning::entry_parts(const Module& module) const {
  if (!parts_ || !module.entry) return std::nullopt;
  EntryParts all;
  all.devices = devices_;
  for (const Instruction* p : module.entry->parameters()) {
    if (!p) continue;
    for (int32_t l = 0; l < leaf_count(p->shape); ++l) all.arguments.push_back(parts_->of(*p, l));
  }
  const Instruction* root = module.entry->root;
  for (int32_t l = 0; root && l < leaf_count(root->shape); ++l) all.results.push_back(parts_->of(*root, l));
  return all;
}

Partitioning find_partitioning(const Module& module, std::vector<std::string>& warnings) {
  Partitioning out = FindPartitioning(module, warnings).run();
  out.host_values_ = find_host_values(module);
  return out;
}

Partitioning stated_partitioning(const Module& module) {
  Partitioning out;
  std::vector<std::string> ignored;
  if (stated_parts(module)) return find_partitioning(module, ignored);
  out.host_values_ = find_host_values(module);
  return out;
}

std::string to_string(const EntryParts& parts) {
  const auto list = [](const std::vector<Dims>& all) {
    std::string text;
    for (const Dims& dims : all) text += fmt::format("{}[{}]", text.empty() ? "" : ",", fmt::join(dims, ","));
    return text;
  };
  return fmt::format("{}: {} -> {}", parts.devices, list(parts.arguments), list(parts.results));
}

std::optional<EntryParts> stated_parts(const Module& module) {
  const size_t at = module.frontend_attributes.find(kStated);
  if (at == std::string::npos) return std::nullopt;
  TextCursor cursor(std::string_view(module.frontend_attributes).substr(at + kStated.size()));
  EntryParts parts;
  const std::optional<int64_t> devices = cursor.integer();
  if (!devices || *devices < 1 || *devices > kMostDevices || !cursor.eat(":")) return std::nullopt;
  parts.devices = *devices;
  const auto read = [&](std::vector<Dims>& all) {
    while (cursor.eat("[")) {
      std::optional<Dims> dims = cursor.integers();
      const bool fit = dims && std::ranges::all_of(*dims, [&](int64_t p) { return p >= 0 && p <= *devices; });
      if (!fit || !cursor.eat("]")) return false;
      all.push_back(std::move(*dims));
      if (!cursor.eat(",")) break;
    }
    return true;
  };
  if (!read(parts.arguments) || !cursor.eat("->") || !read(parts.results) || !cursor.eat("\"")) return std::nullopt;
  return parts;
}

std::vector<std::string> plan_for_one_device(Module& module) {
  std::vector<std::string> warnings;
  if (stated_parts(module)) return {};
  const std::optional<EntryParts> parts = find_partitioning(module, warnings).entry_parts(module);
  if (!parts) return {};
  std::string& all = module.frontend_attributes;
  if (all.size() > 2) {
    all.back() = ',';
  } else {
    all = "{";
  }
  all += std::string(kStated) + to_string(*parts) + "\"}";
  return warnings;
}

std::string of_many_devices(int64_t devices) {
  return fmt::format(
      "the program is one for {} devices, and here one runs it alone: lower it with one partition, or without "
      "shardings",
      devices);
}

bool has_manual_regions(const Module& module) {
  return std::ranges::any_of(module.computations(), [](const auto& computation) {
    return std::ranges::any_of(computation->instructions(),
                               [](const auto& i) { return part_side(*i) != PartSide::kNeither; });
  });
}

std::string why_of_many(const Module& module) {
  const int64_t devices = devices_of(module);
  if (devices <= 1) return {};
  std::vector<std::string> ignored;
  if (find_partitioning(module, ignored).divides() || has_manual_regions(module)) return of_many_devices(devices);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      const bool divides = i->sharding && is_tiled(*i->sharding) && i->sharding->device_count() > 1;
      const bool talks = memory_class(i->opcode) == MemoryClass::kCollective || i->opcode == Opcode::kPartitionId;
      if (divides || talks) return of_many_devices(devices);
    }
  }
  return {};
}

}  // namespace lowtide::engine
