#include "passes/canonicalise/live_elements.h"

#include <algorithm>
#include <numeric>

#include "ir/kept_calls.h"

namespace lowtide::engine {
namespace {

size_t element_count_of(const Instruction& i) { return i.shape.is_tuple() ? i.shape.elements.size() : 1; }

bool is_control(const Instruction& i) {
  return i.opcode == Opcode::kWhile || i.opcode == Opcode::kCall || i.opcode == Opcode::kConditional;
}

/// Operations whose elements can be dropped one by one.
bool is_made_of_elements(const Instruction& i) {
  return is_control(i) || i.opcode == Opcode::kTuple || i.opcode == Opcode::kParameter ||
         (i.opcode == Opcode::kOptBarrier && i.shape.is_tuple());
}

/// Do text attributes number the elements? They would be wrong for the remaining ones.
bool counts_its_elements(const Instruction& i) {
  const auto says = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  if (says(i.backend_config, "tuple_index") || says(i.backend_config, "\"dynamic_variables\":[{")) return true;
  if (says(i.frontend_attributes, "xla.sdy.") || says(i.frontend_attributes, kKeptAttribute)) return true;
  return std::ranges::any_of(i.extra, [](const RawAttribute& raw) { return raw.key == "is_composite"; });
}

}  // namespace

LiveElements::LiveElements(const Module& module)
    : states_(static_cast<size_t>(module.id_limit())), ordered_(ordered_instructions(module)), side_effects_(module) {
  size_t elements = 0;
  for (const auto& c : module.computations()) {
    for (const auto& i : c->instructions()) {
      const size_t count = element_count_of(*i);
      states_[i->id] = {.first = elements, .count = count};
      elements += count;
      for (const Computation* called : i->called) callers_[called].push_back(i.get());
    }
    const auto parameters = c->parameters();
    parameters_[c.get()].assign(parameters.begin(), parameters.end());
  }
  live_.assign(elements, false);
  reach(*module.entry);
  mark_all(*module.entry->root);
  for (const Instruction* parameter : parameters_[module.entry]) mark_all(*parameter);
  while (!open_.empty()) {
    const Mark next = open_.back();
    open_.pop_back();
    State& s = states_[next.instruction->id];
    if (!s.needed) {
      s.needed = true;
      on_needed(*next.instruction);
    }
    if (next.element == kItself || live_[s.first + static_cast<size_t>(next.element)]) continue;
    live_[s.first + static_cast<size_t>(next.element)] = true;
    on_live(*next.instruction, next.element);
  }
}

void LiveElements::mark_all(const Instruction& i) {
  mark(i, kItself);
  for (size_t k = 0; k < element_count_of(i); ++k) mark(i, static_cast<int64_t>(k));
}

/// Marks what runs whenever the computation does.
void LiveElements::reach(const Computation& computation) {
  if (!reached_.insert(&computation).second) return;
  for (const auto& i : computation.instructions()) {
    if (ordered_[i->id] || side_effects_.has(*i)) mark_all(*i);
  }
}

void LiveElements::on_needed(const Instruction& i) {
  for (const Computation* called : i.called) reach(*called);
  if (!is_made_of_elements(i)) {
    if (i.opcode == Opcode::kGetTupleElement) {
      mark(i.operand(0), i.as<TupleIndexAttributes>().index);
      return;
    }
    for (const Instruction* operand : i.operands) mark_all(*operand);
    for (const Computation* called : i.called) {
      mark_all(*called->root);
      for (const Instruction* parameter : parameters_[called]) mark_all(*parameter);
    }
    return;
  }
  if (i.opcode == Opcode::kOptBarrier) mark(i.operand(0), kItself);
  if (counts_its_elements(i) || (is_control(i) && !i.shape.is_tuple())) mark_all(i);
  if (!is_control(i)) return;

  for (const Computation* called : i.called) {
    mark(*called->root, kItself);
    if (counts_its_elements(i)) {
      for (const Instruction* parameter : parameters_[called]) mark_all(*parameter);
    }
    // Other callers may have marked elements already: this caller shares them.
    for (size_t k = 0; k < element_count_of(*called->root); ++k) {
      const bool is_result = !(i.opcode == Opcode::kWhile && called == i.called[0]);
      if (is_result && live_[state(*called->root).first + k]) mark(i, static_cast<int64_t>(k));
    }
    for (const Instruction* parameter : parameters_[called]) {
      for (size_t k = 0; k < element_count_of(*parameter); ++k) {
        if (live_[state(*parameter).first + k]) share_parameter(i, *parameter, static_cast<int64_t>(k));
      }
      if (i.opcode == Opcode::kCall) continue;
      mark(*parameter, kItself);  // loops and branches keep their one parameter
      if (!parameter->shape.is_tuple()) mark(*parameter, 0);
    }
  }
  if (i.opcode == Opcode::kWhile) {
    mark_all(*i.called[0]->root);
    mark(i.operand(0), kItself);
  }
  if (i.opcode == Opcode::kConditional) {
    mark_all(i.operand(0));
    for (const Instruction* operand : i.operands) mark(*operand, kItself);
  }
}

/// Marks the caller's element that corresponds to this element of a parameter.
void LiveElements::share_parameter(const Instruction& caller, const Instruction& parameter, int64_t element) {
  if (caller.opcode == Opcode::kWhile) {
    mark(caller, element);
  } else if (caller.opcode == Opcode::kCall) {
    mark(caller.operand(static_cast<size_t>(parameter.as<ParameterAttributes>().number)), element);
  } else if (caller.opcode == Opcode::kConditional) {
    for (size_t b = 0; b < caller.called.size(); ++b) {
      if (caller.called[b] == parameter.parent) mark(caller.operand(b + 1), element);
    }
  }
}

void LiveElements::on_live(const Instruction& i, int64_t element) {
  switch (i.opcode) {
    case Opcode::kTuple: mark_all(i.operand(static_cast<size_t>(element))); break;
    case Opcode::kOptBarrier: mark(i.operand(0), element); break;
    case Opcode::kWhile:
      mark(i.operand(0), element);
      for (const Computation* called : i.called) {
        for (const Instruction* parameter : parameters_[called]) mark(*parameter, element);
      }
      mark(*i.called[1]->root, element);
      break;
    case Opcode::kCall:
    case Opcode::kConditional:
      for (const Computation* called : i.called) mark(*called->root, element);
      break;
    default: break;
  }
  const bool is_root = &i == i.parent->root;
  if (!is_root && i.opcode != Opcode::kParameter) return;
  const auto callers = callers_.find(i.parent);
  if (callers == callers_.end()) return;
  for (const Instruction* caller : callers->second) {
    if (!state(*caller).needed) continue;
    if (i.opcode == Opcode::kParameter) share_parameter(*caller, i, element);
    const bool is_condition = caller->opcode == Opcode::kWhile && caller->called[0] == i.parent;
    if (is_root && is_control(*caller) && !is_condition) mark(*caller, element);
  }
}

std::vector<int64_t> LiveElements::live(const Instruction& i) const {
  std::vector<int64_t> found;
  const State& s = state(i);
  for (size_t k = 0; k < s.count; ++k) {
    if (live_[s.first + k]) found.push_back(static_cast<int64_t>(k));
  }
  return found;
}

std::vector<int64_t> LiveElements::kept(const Instruction& i) const {
  if (is_made_of_elements(i)) return live(i);
  std::vector<int64_t> all(element_count_of(i));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace lowtide::engine
