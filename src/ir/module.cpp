#include "ir/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace lowtide::engine {

Instruction* Computation::append(std::unique_ptr<Instruction> instruction) {
  instruction->id = module_->next_id();
  instruction->parent = this;
  instructions_.push_back(std::move(instruction));
  return instructions_.back().get();
}

std::vector<Instruction*> Computation::parameters() const {
  std::vector<Instruction*> found;
  for (const auto& instruction : instructions_) {
    if (instruction->opcode != Opcode::kParameter) continue;
    const auto number = static_cast<size_t>(instruction->as<ParameterAttributes>().number);
    if (found.size() <= number) found.resize(number + 1, nullptr);
    found[number] = instruction.get();
  }
  return found;
}

void Computation::reorder(const std::vector<Instruction*>& order) {
  const std::string fault = "an order must name every instruction of " + name + " once";
  LT_ASSERT(order.size() == instructions_.size(), fault);
  const auto is_in_place = [](const auto& owned, const Instruction* named) { return owned.get() == named; };
  if (std::ranges::equal(instructions_, order, is_in_place)) return;
  // Indexed by id, since the ids of one computation are close to each other.
  int32_t first = instructions_.front()->id, last = first;
  for (const auto& i : instructions_) first = std::min(first, i->id), last = std::max(last, i->id);
  std::vector<size_t> place_of(static_cast<size_t>(last - first) + 1, instructions_.size());
  for (size_t i = 0; i < instructions_.size(); ++i) place_of[instructions_[i]->id - first] = i;
  std::vector<size_t> places;  // checked before anything moves
  places.reserve(order.size());
  for (const Instruction* named : order) {
    LT_ASSERT(first <= named->id && named->id <= last, fault);
    size_t& place = place_of[named->id - first];
    LT_ASSERT(place < instructions_.size() && instructions_[place].get() == named, fault);
    places.push_back(std::exchange(place, instructions_.size()));
  }
  std::vector<std::unique_ptr<Instruction>> ordered;
  ordered.reserve(order.size());
  for (const size_t place : places) ordered.push_back(std::move(instructions_[place]));
  instructions_.swap(ordered);
}

void Computation::remove_if(const std::function<bool(const Instruction&)>& dead) {
  std::erase_if(instructions_, [&](const std::unique_ptr<Instruction>& i) { return dead(*i); });
}

void Computation::take_all(Computation& other) {
  for (auto& instruction : other.instructions_) {
    instruction->parent = this;
    instructions_.push_back(std::move(instruction));
  }
  other.instructions_.clear();
  other.root = nullptr;
}

Computation* Module::add_computation(std::string name) {
  computations_.push_back(std::make_unique<Computation>(this, std::move(name)));
  Computation* added = computations_.back().get();
  by_name_.emplace(added->name, added);
  return added;
}

Computation* Module::find_computation(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<Computation*> Module::callees_first() const {
  struct Visit {
    Computation* computation;
    size_t instruction = 0, called = 0;  // the current position in the walk over the callees
  };
  std::vector<Computation*> order;
  std::unordered_set<const Computation*> seen;
  std::vector<Visit> open;
  for (const auto& start : computations_) {
    if (!seen.insert(start.get()).second) continue;
    open.push_back({start.get()});
    while (!open.empty()) {
      Visit& visit = open.back();
      const auto& instructions = visit.computation->instructions();
      Computation* next = nullptr;
      while (!next && visit.instruction < instructions.size()) {
        const std::vector<Computation*>& called = instructions[visit.instruction]->called;
        if (visit.called == called.size()) {
          ++visit.instruction;
          visit.called = 0;
        } else if (seen.insert(called[visit.called++]).second) {
          next = called[visit.called - 1];
        }
      }
      if (next) {
        open.push_back({next});
      } else {
        order.push_back(visit.computation);
        open.pop_back();
      }
    }
  }
  return order;
}

void Module::reorder(const std::vector<Computation*>& order) {
  LT_ASSERT(order.size() == computations_.size(), "an order must name every computation of " + name + " once");
  std::unordered_map<const Computation*, std::unique_ptr<Computation>> owned;
  for (auto& computation : computations_) {
    const Computation* key = computation.get();
    owned.emplace(key, std::move(computation));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    computations_[i] = std::move(owned[order[i]]);
    LT_ASSERT(computations_[i] != nullptr, "an order must name every computation of " + name + " once");
  }
}

void Module::remove_if(const std::function<bool(const Computation&)>& dead) {
  std::erase_if(computations_, [&](const std::unique_ptr<Computation>& c) {
    if (!dead(*c)) return false;
    const auto entry = by_name_.find(c->name);
    if (entry != by_name_.end() && entry->second == c.get()) by_name_.erase(entry);
    return true;
  });
}

std::string Module::unused_computation_name(std::string_view base) const {
  std::string candidate(base);
  for (int n = 1; by_name_.contains(candidate); ++n) candidate = fmt::format("{}.{}", base, n);
  return candidate;
}

int64_t Module::instruction_count() const {
  int64_t count = 0;
  for (const auto& computation : computations_) count += static_cast<int64_t>(computation->instructions().size());
  return count;
}

std::unique_ptr<Module> Module::clone() const {
  auto copy = std::make_unique<Module>(context_);
  copy->name = name;
  copy->source = source;
  copy->is_scheduled = is_scheduled;
  copy->sums_in_order = sums_in_order;
  copy->replica_count = replica_count;
  copy->num_partitions = num_partitions;
  copy->input_output_alias = input_output_alias;
  copy->buffer_donors = buffer_donors;
  copy->entry_layout = entry_layout;
  copy->frontend_attributes = frontend_attributes;
  copy->extra = extra;
  copy->stack = stack;

  std::unordered_map<const Computation*, Computation*> computation_of;
  for (const auto& c : computations_) computation_of[c.get()] = copy->add_computation(c->name);
  for (const auto& c : computations_) {
    Computation* to = computation_of[c.get()];
    to->execution_thread = c->execution_thread;
    to->place = c->place;
    std::unordered_map<const Instruction*, Instruction*> instruction_of;
    for (const auto& i : c->instructions()) {
      Instruction* added = to->append(std::make_unique<Instruction>(*i));
      instruction_of[i.get()] = added;
      added->parent = to;
    }
    for (const auto& i : to->instructions()) {
      for (Instruction*& operand : i->operands) operand = instruction_of.at(operand);
      for (Instruction*& before : i->control_predecessors) before = instruction_of.at(before);
      for (Computation*& called : i->called) called = computation_of.at(called);
    }
    if (c->root) to->root = instruction_of.at(c->root);
  }
  if (entry) copy->entry = computation_of.at(entry);
  return copy;
}

std::optional<SourceLocation> Module::location_of(const Instruction& instruction) const {
  const Metadata& metadata = instruction.metadata;
  if (!metadata.source_file.empty()) return SourceLocation{metadata.source_file, "", metadata.source_line};
  const auto row = [](const auto& table, int64_t id) {
    return id >= 1 && id <= static_cast<int64_t>(table.size()) ? &table[id - 1] : nullptr;
  };
  const auto* frame = row(stack.frames, metadata.stack_frame_id);
  const auto* location = frame ? row(stack.locations, frame->location) : nullptr;
  if (!location) return std::nullopt;
  const std::string* file = row(stack.files, location->file);
  const std::string* function = row(stack.functions, location->function);
  return SourceLocation{file ? *file : "", function ? *function : "", location->line};
}

Status unsupported_at(const Instruction& instruction, const std::string& why) {
  Status fault = Status::unsupported(fmt::format("{} {}: {}", opcode_name(instruction.opcode), instruction.name, why));
  const auto& source = instruction.parent->module().source;
  return source ? fault.at(*source, instruction.place) : fault;
}

}  // namespace lowtide::engine
