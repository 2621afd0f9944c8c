#include "schedule/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "region/text.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {
namespace {

const char* name_of(StorageKind kind) {
  switch (kind) {
    case StorageKind::kArgument: return "argument";
    case StorageKind::kOutput: return "output";
    case StorageKind::kConstant: return "constant";
    case StorageKind::kTemporary: return "temporary";
  }
  __builtin_unreachable();
}

const char* name_of(StepKind kind) {
  switch (kind) {
    case StepKind::kKernel: return "kernel";
    case StepKind::kLibrary: return "library";
    case StepKind::kCopy: return "copy";
    case StepKind::kWhile: return "while";
    case StepKind::kConditional: return "conditional";
    case StepKind::kRotate: return "rotate";
    case StepKind::kOther: return "other";
  }
  __builtin_unreachable();
}

const char* name_of(InPlaceWays ways) {
  switch (ways) {
    case InPlaceWays::kNone: return "none";
    case InPlaceWays::kKernels: return "kernels";
    case InPlaceWays::kStrips: return "strips";
    case InPlaceWays::kMoves: return "moves";
  }
  __builtin_unreachable();
}

std::string name_of(const Instruction* i) { return i == nullptr ? "-" : "%" + i->name; }

std::string storage_line(const Storage& s) {
  std::string line = fmt::format("{} {} bytes [{}, {})", name_of(s.kind), s.bytes, s.born, s.dies);
  if (s.is_in_arena()) line += fmt::format(" at {}", s.offset);
  if (s.number != kNoId) line += fmt::format(" number {}", s.number);
  if (s.donated) line += " donated";
  if (s.in_host) line += " in host memory";
  if (s.holds_output) line += " holds a result";
  if (s.last_reader != nullptr) line += " until " + name_of(s.last_reader);
  for (const LeafRef& value : s.values) line += fmt::format(" {}#{}", name_of(value.instruction), value.leaf);
  return line;
}

std::string moves_text(const BoxMoves& moves) {
  std::string text =
      fmt::format("moves blocks={} of {} elements of {} bytes, rotated={} scratch={} runs={}", moves.blocks,
                  moves.block, moves.element_bytes, moves.rotated, moves.scratch_bytes, fmt::join(moves.runs, ","));
  for (const BoxMove& move : moves.moves) {
    text += fmt::format(" [{} <- {} run={} kept={}", move.to, move.from, move.run, move.kept);
    for (const BoxMove::Axis& axis : move.axes) text += fmt::format(" {}x{}", axis.extent, axis.stride);
    text += "]";
  }
  return text;
}

std::string strips_text(const Strips& strips) {
  std::string text = fmt::format("strips elements={} phase={} tile={} delay={} head={} spill={} patch={} scratch={}",
                                 strips.elements, strips.phase, strips.tile, strips.delay, strips.head, strips.spill,
                                 strips.patch, strips.scratch_bytes);
  for (const StripPiece& piece : strips.pieces) {
    text += fmt::format(" piece({} {} {} {} {})", static_cast<int>(piece.kind), piece.extent, piece.stride, piece.first,
                        piece.granule);
  }
  for (const Strips::Output& output : strips.outputs) {
    text += fmt::format(" output({} {} {} {})", output.number, output.element_bytes, output.head, output.window);
  }
  for (const Strips::Patch& patch : strips.patches) {
    text += fmt::format(" patch({} {} {})", patch.piece, patch.output, patch.element);
  }
  if (strips.moves) text += " " + moves_text(*strips.moves);
  return text;
}

std::string rearrangement_text(const Rearrangement& rearrangement) {
  std::string text = fmt::format("rearrangement scratch={}", rearrangement.scratch_bytes);
  for (const ArrayMove& move : rearrangement.moves) {
    text += fmt::format(" {}({} {} {} {})", move.kind == ArrayMove::kTranspose ? "transpose" : "reverse", move.batch,
                        move.rows, move.columns, move.unit);
  }
  return text;
}

class PrintProgram {
 public:
  explicit PrintProgram(const Program& program) : program_(program) {}

  std::string run() {
    const Program& p = program_;
    line("program {}: arguments {} results {} alias {} temp {} load {} kernels {} order {} {}{}{}", p.module->name,
         p.argument_bytes, p.output_bytes, p.alias_bytes, p.temp_bytes, p.load_bytes, p.kernels, p.choice.order,
         name_of(p.choice.ways), p.could_rearrange ? " could rearrange" : "",
         p.refused.empty() ? "" : " refused: " + p.refused);
    if (p.packing) {
      line("packing {:016x} height {} offsets {}", p.packing->problem, p.packing->placement.height,
           fmt::join(p.packing->placement.offsets, " "));
    }
    for (size_t k = 0; k < p.storages.size(); ++k) line("storage {}: {}", k, storage_line(p.storages[k]));
    for (size_t k = 0; k < p.slots.size(); ++k) {
      line("slot {}: storage {} at {}, {} bytes", k, p.slots[k].storage, p.slots[k].offset, p.slots[k].bytes);
    }
    line("arguments in {}", fmt::join(p.argument_slots, " "));
    line("results in {}", fmt::join(p.output_slots, " "));
    steps(p.steps, 0);
    for (size_t at = 0; at < p.timeline.size(); ++at) {
      line("at {}: {} bytes, {}", at, at < p.live.size() ? p.live[at] : 0, name_of(p.timeline[at]));
    }
    return std::move(text_);
  }

 private:
  template <class... Parts>
  void line(fmt::format_string<Parts...> form, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Parts>(parts)...);
    text_ += '\n';
  }

  void steps(const std::vector<ProgramStep>& all, int depth) {
    for (const ProgramStep& s : all) step(s, depth);
  }

  void step(const ProgramStep& s, int depth) {
    std::string words;
    const auto add = [&](std::string_view name, const std::vector<int32_t>& list) {
      if (!list.empty()) words += fmt::format(" {} {}", name, fmt::join(list, ","));
    };
    const auto add_one = [&](std::string_view name, int64_t value) {
      if (value != kNoId) words += fmt::format(" {} {}", name, value);
    };
    add("reads", s.reads);
    add("writes", s.writes);
    if (s.way) add("idle", s.way->idle);
    add("from", s.from);
    add("to", s.to);
    add("settle", s.settle);
    add_one("scratch", s.scratch);
    add_one("predicate", s.predicate);
    add_one("trips", s.trip_count);
    if (s.assembled) words += " assembled";
    if (s.way && s.way->strips) words += " " + strips_text(*s.way->strips);
    if (s.way && s.way->rearrangement) words += " " + rearrangement_text(*s.way->rearrangement);
    if (s.region != kNoId) words += " region " + to_text(program_.regions[s.region]);
    if (!s.reason.empty()) words += " because " + s.reason;
    line("{:{}}step {} {} {}{}", "", 2 * depth, s.at, name_of(s.kind), name_of(s.instruction), words);
    for (const auto& block : s.blocks) {
      line("{:{}}block", "", 2 * depth);
      steps(block, depth + 1);
    }
  }

  const Program& program_;
  std::string text_;
};

}  // namespace

std::string print_program(const Program& program) { return PrintProgram(program).run(); }

}  // namespace lowtide::engine
