#include "compile/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text_hash.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kVersion = "lowtide-plan 1";
constexpr std::string_view kExactLine = "exact";
constexpr std::string_view kMachineWord = "machine ";
constexpr double kMostPrice = 1e9;               ///< a second per byte
constexpr int64_t kMostSearchSteps = 1'000'000;  ///< minutes on a program of any size

/// Passes that a plan may leave out: later passes don't need them, and all plans share the preceding ones.
constexpr std::string_view kOptional[] = {"stream-windows", "stream-slices", "split-long-reductions",
                                          "split-long-scatters"};

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

std::string module_line(const Module& module) {
  const TextHash hash = hash_text(print_hlo(module, {.large_constants = LargeConstants::kNamed}));
  return fmt::format("module {} {:016x}{:016x}", module.name, hash.high, hash.low);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    const size_t end = std::min(line.size(), line.find_first_of(" \t\r", begin));
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

template <class T>
bool parse_number(std::string_view word, T& number) {
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  return fault == std::errc() && end == word.data() + word.size();
}

bool parse_hash(std::string_view word, uint64_t& hash) {
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), hash, 16);
  return fault == std::errc() && end == word.data() + word.size();
}

/// Parses `packing HASH HEIGHT OFFSET...`.
bool parse_packing(const std::vector<std::string_view>& words, KnownPlacement& known) {
  if (words.size() < 3) return false;
  Placement& placement = known.placement;
  const auto is_offset = [&](std::string_view word) {
    return parse_number(word, placement.offsets.emplace_back()) && placement.offsets.back() >= 0;
  };
  return parse_hash(words[1], known.problem) && parse_number(words[2], placement.height) && placement.height >= 0 &&
         std::all_of(words.begin() + 3, words.end(), is_offset);
}

constexpr std::array<std::string_view, 4> kWays = {"none", "kernels", "strips", "moves"};  ///< by InPlaceWays

/// Parses `order NUMBER WAYS`.
bool parse_order(const std::vector<std::string_view>& words, OrderChoice& choice) {
  if (words.size() != 3 || !parse_number(words[1], choice.order) || choice.order < 0) return false;
  const auto ways = std::ranges::find(kWays, words[2]);
  choice.ways = static_cast<InPlaceWays>(ways - kWays.begin());
  return ways != kWays.end();
}

constexpr std::string_view kInRoom = "in-room=";

bool is_price(double ns_per_byte) { return ns_per_byte > 0 && ns_per_byte < kMostPrice; }

/// False if the line is no decision.
bool parse_decision(std::string_view line, Decision& decision) {
  const auto w = words_of(line);
  if (w.empty()) return false;
  if (w[0] == "stream") {
    const auto stream = parse_stream_decision(line);
    if (stream.ok()) decision = *stream;
    return stream.ok();
  }
  for (const Decision& word : {Decision(Rearrange{}), Decision(HoistLoopInvariants{}), Decision(UpdateInLoops{})}) {
    if (w.size() != 1 || w[0] != to_string(word)) continue;
    decision = word;
    return true;
  }
  if (w[0] == "packing") {
    Packing packing;
    const bool read = parse_packing(w, packing.known);
    decision = std::move(packing);
    return read;
  }
  if (w[0] == "order") {
    TakeOrder order;
    const bool read = parse_order(w, order.choice);
    decision = order;
    return read;
  }
  if (w[0] == "save-every" && (w.size() == 2 || (w.size() == 4 && w[2] == "of"))) {
    Grouping every;
    const bool read = parse_number(w[1], every.k) && (w.size() == 2 || parse_number(w[3], every.of));
    decision = SaveEvery{every};
    return read && every.k > 1 && (w.size() == 2 || every.of > every.k);
  }
  if (w[0] == "recompute" && (w.size() == 2 || w.size() == 3)) {
    RecomputePrice price;
    bool read = parse_number(w[1], price.ns_per_byte) && is_price(price.ns_per_byte);
    if (w.size() == 3) {
      read = read && w[2].starts_with(kInRoom) && parse_number(w[2].substr(kInRoom.size()), price.in_room) &&
             is_price(price.in_room);
    }
    decision = Recompute{price};
    return read;
  }
  if (w.size() != 2) return false;
  if (w[0] == "without") {
    decision = WithoutPass{std::string(w[1])};
    return std::ranges::find(kOptional, w[1]) != std::end(kOptional);
  }
  if (w[0] == "offload") {
    Offload offload;
    const bool read = parse_number(w[1], offload.count);
    decision = offload;
    return read && offload.count > 0;
  }
  if (w[0] == "price-of-memory") {
    PriceOfMemory price;
    const bool read = parse_number(w[1], price.ns_per_byte);
    decision = price;
    return read && price.ns_per_byte >= 0 && price.ns_per_byte < kMostPrice;
  }
  if (w[0] == "search-steps") {
    SearchSteps search;
    const bool read = parse_number(w[1], search.steps);
    decision = search;
    return read && search.steps >= 0 && search.steps <= kMostSearchSteps;
  }
  return false;
}

}  // namespace

bool comes_before_streams(const Decision& decision) {
  return std::holds_alternative<Recompute>(decision) || std::holds_alternative<SaveEvery>(decision) ||
         std::holds_alternative<Offload>(decision) || std::holds_alternative<HoistLoopInvariants>(decision) ||
         std::holds_alternative<UpdateInLoops>(decision);
}

size_t first_stream(const Decisions& decisions) {
  const auto is_stream = [](const Decision& d) { return std::holds_alternative<StreamDecision>(d); };
  return static_cast<size_t>(std::ranges::find_if(decisions, is_stream) - decisions.begin());
}

Decisions without_streams() {
  Decisions plain;
  for (const std::string_view pass : kStreaming) plain.emplace_back(WithoutPass{std::string(pass)});
  return plain;
}

std::string to_string(const Decision& decision) {
  return std::visit(Overloaded{
                        [](const StreamDecision& d) { return to_text(d); },
                        [](const WithoutPass& d) { return "without " + d.pass; },
                        [](const PriceOfMemory& d) { return fmt::format("price-of-memory {}", d.ns_per_byte); },
                        [](const Rearrange&) { return std::string("rearrange"); },
                        [](const HoistLoopInvariants&) { return std::string("hoist-loop-invariants"); },
                        [](const UpdateInLoops&) { return std::string("update-in-loops"); },
                        [](const Recompute& d) {
                          const std::string all = fmt::format("recompute {}", d.price.ns_per_byte);
                          return d.price.in_room > 0 ? fmt::format("{} {}{}", all, kInRoom, d.price.in_room) : all;
                        },
                        [](const SaveEvery& d) {
                          const std::string all = fmt::format("save-every {}", d.grouping.k);
                          return d.grouping.of > 0 ? fmt::format("{} of {}", all, d.grouping.of) : all;
                        },
                        [](const Offload& d) { return fmt::format("offload {}", d.count); },
                        [](const Packing& d) {
                          return fmt::format("packing {:016x} {} {}", d.known.problem, d.known.placement.height,
                                             fmt::join(d.known.placement.offsets, " "));
                        },
                        [](const TakeOrder& d) {
                          return fmt::format("order {} {}", d.choice.order, kWays[static_cast<size_t>(d.choice.ways)]);
                        },
                        [](const SearchSteps& d) { return fmt::format("search-steps {}", d.steps); },
                    },
                    decision);
}

std::string print_plan(const Module& module, const Decisions& decisions) {
  std::string text = fmt::format("{}\n{}\n", kVersion, module_line(module));
  if (module.sums_in_order) text += fmt::format("{}\n", kExactLine);
  const std::string& machine = module.context().settings().choices.machine;
  if (!machine.empty()) text += fmt::format("{}{}\n", kMachineWord, machine);
  for (const Decision& decision : decisions) text += to_string(decision) + "\n";
  return text;
}

Result<PlanFile> parse_plan(std::string_view text, const Module& module) {
  PlanFile plan;
  std::string_view machine;
  for (int64_t number = 1; number <= 2 || !text.empty(); ++number) {  // a truncated file is no plan
    const size_t end = std::min(text.size(), text.find('\n'));
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1 && line != kVersion) {
      return Status::input(fmt::format("line 1: expected `{}`, the first line of every plan", kVersion));
    }
    if (number == 2 && line != module_line(module)) {
      return Status::input(fmt::format("line 2: the plan is of another module: it says `{}`, this input is `{}`", line,
                                       module_line(module)));
    }
    if (number <= 2 || words_of(line).empty() || line.starts_with('#')) continue;
    if (const auto w = words_of(line); w.size() == 1 && w[0] == kExactLine) {
      plan.exact = true;
      continue;
    }
    if (line.starts_with(kMachineWord)) {
      machine = line.substr(kMachineWord.size());
      continue;
    }
    Decision decision;
    if (!parse_decision(line, decision)) {
      return Status::input(fmt::format(
          "line {}: `{}` is no decision; expected `stream COMPUTATION VALUE dimension=D tile=T`, `without PASS`, "
          "`price-of-memory NS`, `search-steps N`, `rearrange`, `recompute NS`, `hoist-loop-invariants`, "
          "`save-every K`, `save-every K of TRIPS`, `offload COUNT`, `update-in-loops`, "
          "`packing HASH HEIGHT OFFSET...`, `order NUMBER WAYS` or `exact`",
          number, line));
    }
    plan.decisions.push_back(std::move(decision));
  }
  // The passes' own decisions depend on the machine's costs.
  const std::string& ours = module.context().settings().choices.machine;
  if (machine != ours) {
    const auto named = [](std::string_view m) { return m.empty() ? "no machine" : fmt::format("--machine {}", m); };
    return Status::input(fmt::format("the plan was made with {}, and is read with {}", named(machine), named(ours)));
  }
  return plan;
}

}  // namespace lowtide::engine
