#include "report/live.h"

#include <fmt/format.h>

#include "report/origin.h"
#include "report/phases.h"

namespace lowtide::engine {

WhyAlive::WhyAlive(const Graph& graph, const Account& account) : graph_(graph), account_(account) {
  first_step_.assign(static_cast<size_t>(graph.module().id_limit()), -1);
  for (size_t s = 0; s < account.timeline.size(); ++s) {
    const Instruction* instruction = account.timeline[s].instruction;
    if (instruction == nullptr) continue;
    Step& first = first_step_[instruction->id];
    if (first < 0) first = static_cast<Step>(s);
  }
  const Instruction* root = graph.module().entry->root;
  if (root == nullptr) return;
  int64_t leaf_number = 0;
  for_each_leaf(root->shape, [&](const ShapeIndex& index, const Shape&) {
    ValueRef value{root, index};
    for (int steps = 0; steps < 50; ++steps) {  // through the tuples and views at the end of the program
      result_.try_emplace({value.instruction->id, value.index}, leaf_number);
      const Opcode opcode = value.instruction->opcode;
      if (opcode != Opcode::kTuple && opcode != Opcode::kGetTupleElement && opcode != Opcode::kBitcast) break;
      const auto next = graph.behind(value);
      if (!next) break;
      value = *next;
    }
    ++leaf_number;
  });
}

Step WhyAlive::first_step(const Instruction& instruction) const { return first_step_[instruction.id]; }

int64_t WhyAlive::result_of(const AccountBuffer& buffer) const {
  for (const ValueRef& value : buffer.values) {
    const auto found = result_.find({value.instruction->id, value.index});
    if (found != result_.end()) return found->second;
  }
  return -1;
}

std::string WhyAlive::why(const AccountBuffer& buffer, const ArgumentRow* argument) const {
  if (buffer.kind == BufferKind::kArgument) {
    if (argument != nullptr && argument->fate == Fate::kDonated && argument->result >= 0) return argument->note;
    if (!buffer.donated) return "the caller keeps it: not donated";
    const int64_t result = result_of(buffer);
    return result >= 0 ? fmt::format("result {} is written over it", result) : "donated, and no result takes it";
  }
  if (buffer.kind == BufferKind::kConstant) return "a constant, there throughout";
  if (buffer.kind == BufferKind::kScratch) {
    return buffer.values.empty() ? "workspace" : fmt::format("workspace of {}", value_name(buffer.values[0]));
  }
  // The loop the peak is in, if the buffer is one of its carries.
  const auto peak = static_cast<size_t>(account_.peak_step);
  const Instruction* loop = peak < account_.timeline.size() ? account_.timeline[peak].caller : nullptr;
  std::string carried;
  if (loop != nullptr && loop->opcode == Opcode::kWhile) {
    for (const ValueRef& value : buffer.values) {
      const Instruction& i = *value.instruction;
      const bool enters = i.opcode == Opcode::kParameter && loop->called.size() > 1 && i.parent == loop->called[1];
      if (&i == loop || enters) carried = fmt::format("carried by %{}", loop->name);
    }
  }
  std::string last;
  if (buffer.last_reader != nullptr) {
    const Instruction& reader = *buffer.last_reader;
    const Step step = first_step(reader);
    last = fmt::format("read by %{}", reader.name);
    std::string phase = step >= 0 ? phase_of(account_.timeline[step]) : "";
    if (!phase.empty() && phase.find('%') == std::string::npos) last += fmt::format(" ({})", phase);
    if (step >= 0 && buffer.dies > account_.peak_step + 1) {
      const Step later = buffer.dies - account_.peak_step - 1;
      last += fmt::format(", {} step{} after the peak", later, later == 1 ? "" : "s");
    }
  }
  const int64_t result =
      buffer.holds_output || buffer.kind == BufferKind::kOutput || last.empty() ? result_of(buffer) : -1;
  std::string why = std::move(carried);
  const auto add = [&](const std::string& reason) {
    if (!reason.empty()) why += (why.empty() ? "" : "; ") + reason;
  };
  if (result >= 0) add(fmt::format("result {}", result));
  if (result < 0) add(last);
  for (const ValueRef& value : buffer.values) {
    const Instruction& i = *value.instruction;
    if (!why.empty() || i.opcode != Opcode::kParameter || i.parent == nullptr) continue;
    const auto& callers = graph_.callers(*i.parent);
    if (!callers.empty()) why = fmt::format("carried by %{}", callers[0]->name);
  }
  const bool is_result = buffer.holds_output || buffer.kind == BufferKind::kOutput;
  if (why.empty()) why = is_result ? "a result" : "passed on, and nothing reads it";
  return why;
}

}  // namespace lowtide::engine
