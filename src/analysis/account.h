#pragma once
/// The memory that a program needs when it runs as given: buffers on one timeline, the peak, and its values.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "ir/xla_backend.h"
#include "plan/pack.h"

namespace lowtide::engine {

/// One executed instruction. Fusions, reducers and comparators are single steps.
struct TimelineStep {
  const Instruction* instruction = nullptr;
  int32_t depth = 0;                    ///< nesting of while, conditional, call
  const Instruction* caller = nullptr;  ///< the innermost while, conditional or call; null in the entry
};

/// An array result of an instruction: leaf `index` of its shape.
struct ValueRef {
  const Instruction* instruction = nullptr;
  ShapeIndex index;
};

enum class BufferKind : uint8_t {
  kArgument,  ///< an entry parameter's leaf; live throughout
  kOutput,    ///< holds a result and no argument
  kConstant,
  kTemporary,
  kScratch,  ///< declared workspace of a library call
};

/// Bytes that hold values one after another, or one value with several names.
struct AccountBuffer {
  std::vector<ValueRef> values;  ///< in order of definition; the first is named in reports
  BufferKind kind = BufferKind::kTemporary;
  int64_t bytes = 0;                         ///< as laid out, padding included
  int64_t padding = 0;                       ///< part of `bytes`: those beyond the logical bytes
  int64_t memory_space = 0;                  ///< 0: main; others are not part of the sums
  bool donated = false;                      ///< an argument whose bytes may be reused
  bool holds_output = false;                 ///< a (donated) argument or an output that contains a result
  Step born = 0, dies = 0;                   ///< live in [born, dies)
  const Instruction* last_reader = nullptr;  ///< the instruction that reads it last; null: it is a result
  std::vector<Lifetime> alive;               ///< parts of [born, dies) with a live value; empty: all of it

  bool alive_at(Step step) const {
    if (step < born || step >= dies) return false;
    if (alive.empty()) return true;
    for (const Lifetime& life : alive) {
      if (life.born <= step && step < life.dies) return true;
    }
    return false;
  }
};

/// The account of a module. peak = argument + output - alias + temp.
struct Account {
  std::vector<TimelineStep> timeline;
  std::vector<AccountBuffer> buffers;
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0;
  int64_t temp_bytes = 0;                   ///< the arena, packed
  int64_t load_bytes = 0;                   ///< largest sum of live arena bytes
  int64_t constant_bytes = 0;               ///< part of temp
  int64_t padding_bytes = 0;                ///< at the peak
  std::map<int64_t, int64_t> other_spaces;  ///< memory space -> most bytes live there at once
  Step peak_step = 0;                       ///< the first step at which the load is reached
  std::vector<int64_t> live;                ///< live arena bytes at each step
  std::vector<std::string> warnings;        ///< "shardings name 8 devices, the header 1 partition", ...
  int64_t peak_bytes() const { return argument_bytes + output_bytes - alias_bytes + temp_bytes; }
};

enum class AccountMode : uint8_t {
  kAsGiven,      ///< a scheduled module: XLA's order and fusions; otherwise depth-first, plain elementwise loop fusion
  kUnscheduled,  ///< the second form, even for a scheduled module
  kInOrder,      ///< the same in the order of the text
};

/// pack_work: limit for the search for a smaller arena (PackOptions::work), unless the compiler's own packing is used.
inline constexpr int64_t kAccountWork = 10'000'000;
/// backend: whose fusions an unscheduled module gets; none: those that all of them make.
Account account_for(const Module& module, AccountMode mode, int64_t pack_work = kAccountWork,
                    std::optional<XlaBackend> backend = std::nullopt);

/// A lower bound on the peak, with the reason that proves it.
struct Floor {
  int64_t bytes = 0;
  std::string reason;                        ///< "arguments 7.48 GiB + results ... : every executor holds them"
  const Instruction* instruction = nullptr;  ///< the one that determines it, if any
};
Floor floor_order(const Module& module);  ///< over all orders and in-place choices of the ops as given
Floor floor_any(const Module& module);    ///< for every correct executor

}  // namespace lowtide::engine
