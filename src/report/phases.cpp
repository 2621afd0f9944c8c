#include "report/phases.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "report/category.h"

namespace lowtide::engine {
namespace {

constexpr size_t kShortestShare = 50;  // a run below 1/50 of the timeline is joined with its neighbour

bool names_any(std::string_view text, const auto& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

constexpr std::array<std::string_view, 2> kEmbedWords = {"embed", "one_hot_lookup"};
constexpr std::array<std::string_view, 8> kLossWords = {"loss",      "xent",   "cross_entropy", "log_softmax",
                                                        "logsumexp", "logits", "nll",           "one_hot"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// The loop in which a step runs, or which it is.
const Instruction* loop_of(const TimelineStep& step) {
  if (step.instruction != nullptr && step.instruction->opcode == Opcode::kWhile) return step.instruction;
  return step.caller != nullptr && step.caller->opcode == Opcode::kWhile ? step.caller : nullptr;
}

}  // namespace

std::string phase_of(const TimelineStep& step) {
  if (step.instruction == nullptr) return "";
  const Instruction& i = *step.instruction;
  const Instruction* loop = loop_of(step);
  const std::string name = lower(i.metadata.op_name);
  const bool in_scan = loop != nullptr || name.find("/while/body") != std::string::npos;
  const bool backward = is_backward(i) || (loop != nullptr && is_backward(*loop));
  if (backward) return in_scan ? "backward scan" : names_any(name, kLossWords) ? "loss" : "backward";
  const bool forward = is_forward(i) || (loop != nullptr && is_forward(*loop));
  if (names_any(name, kEmbedWords)) return "embed";
  if (names_any(name, kLossWords)) return "loss";
  if (forward) return in_scan ? "forward scan" : "forward";
  if (loop != nullptr) return "loop %" + loop->name;
  return "";
}

std::vector<Phase> phases_of(const Account& account) {
  std::vector<Phase> runs;
  const auto steps = static_cast<Step>(account.timeline.size());
  std::vector<std::string> names(account.timeline.size());
  Step forward_scan_end = 0, backward_begin = steps, backward_scan_begin = steps;
  for (Step s = steps; s-- > 0;) {
    std::string& name = names[s] = phase_of(account.timeline[s]);
    if (name == "forward scan") forward_scan_end = std::max(forward_scan_end, s + 1);
    if (name.starts_with("backward")) backward_begin = s;
    if (name == "backward scan") backward_scan_begin = s;
  }
  for (Step s = 0; s < steps; ++s) {
    std::string& name = names[s];
    // Between the scans over layers are the head and the loss, and their gradients.
    const bool between = forward_scan_end > 0 && s >= forward_scan_end && s < backward_scan_begin;
    if (between && (name == "forward" || name == "backward")) name = "loss";
    // Named steps that are neither forward nor backward, once there are gradients, apply them.
    const Instruction* i = account.timeline[s].instruction;
    const bool named = i != nullptr && !i->metadata.op_name.empty();
    if (name.empty() && named && s > backward_begin) name = "update";
    if (name.empty() && s > 0) name = names[static_cast<size_t>(s) - 1];
    if (runs.empty() || runs.back().name != name) runs.push_back({name, s, s});
    runs.back().end = s + 1;
  }
  const auto shortest = static_cast<Step>(std::max<size_t>(1, account.timeline.size() / kShortestShare));
  std::vector<Phase> joined;
  for (const Phase& run : runs) {
    const bool same = !joined.empty() && joined.back().name == run.name;
    if (same || (!joined.empty() && run.end - run.begin < shortest)) {
      joined.back().end = run.end;
    } else {
      joined.push_back(run);
    }
  }
  std::vector<Phase> named;
  for (const Phase& phase : joined) {
    if (phase.name.empty()) continue;
    if (!named.empty() && named.back().name == phase.name) {
      named.back().end = phase.end;
    } else {
      named.push_back(phase);
    }
  }
  return named;
}

}  // namespace lowtide::engine
