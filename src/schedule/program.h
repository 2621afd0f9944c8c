#pragma once
/// A program: the executable form of a module as data. Steps over slots, slots in storages, storages in one arena.
/// The runtime uses exactly the memory stated here.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/module.h"
#include "plan/packings.h"
#include "region/work.h"
#include "target/in_place_ways.h"

namespace lowtide::engine {

class KnownNests;
struct KernelWay;

enum class StorageKind : uint8_t {
  kArgument,   ///< memory of the caller, argument leaf `number`; written only if donated
  kOutput,     ///< memory for result leaf `number` that aliases no argument
  kConstant,   ///< in an arena, filled before the first step
  kTemporary,  ///< in an arena
};

/// Bytes with one address for their whole life.
struct Storage {
  StorageKind kind = StorageKind::kTemporary;
  int64_t number = kNoId;       ///< argument or result leaf, entry-wide, depth first
  int64_t bytes = 0;            ///< logical
  Step born = 0, dies = 0;      ///< alive in [born, dies) of the timeline
  ArenaOffset offset = 0;       ///< of constants and temporaries
  bool donated = false;         ///< an argument that may be overwritten
  bool holds_output = false;    ///< an argument or output in which a result ends
  bool in_host = false;         ///< in the host's memory, which has a separate arena
  Value constant;               ///< of kConstant
  std::vector<LeafRef> values;  ///< stored here, in order of definition; the first names the storage in reports
  const Instruction* last_reader = nullptr;

  bool is_in_arena() const { return kind == StorageKind::kConstant || kind == StorageKind::kTemporary; }
  /// The number of the storage's address space: one for each arena, and one for each other storage.
  int32_t space(int32_t storage) const { return is_in_arena() ? (in_host ? -1 : 0) : storage + 1; }
};

/// A slot is a name for an address. It starts at its home; kRotate lets slots exchange addresses (loop carries).
struct Slot {
  int32_t storage = kNoId;
  int64_t offset = 0;  ///< within the storage, bytes
  int64_t bytes = 0;
};

enum class StepKind : uint8_t {
  kKernel,
  kLibrary,
  kCopy,  ///< writes[i] = reads[i], all of slot writes[i], all at once: if a read is also a write, strip by strip
  kWhile,
  kConditional,
  kRotate,  ///< slots exchange their addresses; moves no bytes
  kOther,
};

struct ProgramStep {
  StepKind kind = StepKind::kKernel;
  int32_t region = kNoId;                    ///< kKernel: of Program::regions
  const Instruction* instruction = nullptr;  ///< kLibrary, kWhile, kConditional; otherwise for reports
  std::vector<int32_t> reads, writes;        ///< slots: a region's inputs and outputs, a library's operands and results
  bool assembled = false;  ///< kKernel: its operands are already at their places in its results: nothing to do
  std::shared_ptr<const KernelWay> way;          ///< kKernel: how it runs differently from its plain nest, if it does
  int32_t scratch = kNoId;                       ///< slot; kLibrary, kKernel with a way that needs it
  int32_t predicate = kNoId;                     ///< slot of the loop's condition, of the branch's predicate or index
  std::vector<std::vector<ProgramStep>> blocks;  ///< kWhile: condition, body; kConditional: branches
  int64_t trip_count = kNoId;                    ///< of kWhile, if known: then the condition need not run
  std::vector<int32_t> from, to;  ///< kRotate: slot to[i] gets the address that from[i] had, all at once; a permutation
  /// kWhile: slots that rotate in it. After the loop they get back the addresses from before it, and their bytes move
  /// there, all at once, strip by strip; nothing moves if the addresses are the same anyway.
  std::vector<int32_t> settle;
  std::string reason;  ///< kCopy: why it stays, with both reads named
  /// Steps of the same block that must be complete before this one starts: ascending, all before it, as few as
  /// possible. Filled in only for programs that are about to run (schedule/dependencies.h); running steps in order is
  /// always valid. Addresses are those that slots have at this place of the block, whenever the step runs; a block
  /// begins when its step does, or when the preceding block has ended.
  std::vector<int32_t> after;
  Step at = 0;  ///< on the timeline
};

/// Which of the candidate orders (search_order.h) and in-place ways was chosen.
struct OrderChoice {
  int32_t order = 0;
  InPlaceWays ways = InPlaceWays::kKernels;
  bool operator==(const OrderChoice&) const = default;
};

struct Program {
  std::shared_ptr<const Module> module;
  std::vector<Region> regions;
  std::vector<Storage> storages;
  std::vector<Slot> slots;
  std::vector<ProgramStep> steps;
  std::vector<int32_t> argument_slots, output_slots;  ///< per leaf of the entry's arguments and results

  std::vector<const Instruction*> timeline;  ///< per step of the timeline: the instruction that names it
  std::vector<int64_t> live;                 ///< arena bytes alive at each step
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0;
  int64_t temp_bytes = 0;       ///< the arena
  int64_t host_temp_bytes = 0;  ///< the arena in the host's memory, which is no part of the peak
  int64_t host_bytes = 0;       ///< that arena, and arguments and results in the host's memory
  int64_t load_bytes = 0;
  int64_t kernels = 0;                    ///< kernel steps, as laid out
  std::optional<KnownPlacement> packing;  ///< of the arena, if it took a search
  OrderChoice choice;
  std::string refused;           ///< if not empty, no values share bytes, because of this fault in the original plan
  bool could_rearrange = false;  ///< transposing or reversing in place would take less memory, but more time
  int64_t peak_bytes() const { return argument_bytes + output_bytes - alias_bytes + temp_bytes; }
};

struct ScheduleOptions {
  int64_t search_steps = 2000;  ///< budget of local improvement, in plans tried
  bool apart = false;           ///< no result aliases an operand
  bool rearrange = false;       ///< transpose and reverse in place, even if it takes longer
  FormOptions form;
  std::vector<KnownPlacement> packings;  ///< recorded by an earlier plan
  std::optional<OrderChoice> choice;     ///< recorded by an earlier plan
  std::shared_ptr<KnownNests> nests;     ///< shared by plans of the same module; null for a single plan
};

/// Order, in-place decisions, storages, packing: the free plan of a flat module, for this target.
Program schedule(std::shared_ptr<const Module> module, const Target& target, const ScheduleOptions& options = {});

}  // namespace lowtide::engine
