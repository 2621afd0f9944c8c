#pragma once
/// A module as pieces of work: for each computation the parts that are executed as kernels, by a library, or as control
/// flow; everything else is virtual or an alias of stored bytes.

#include <optional>
#include <unordered_map>

#include "region/region.h"
#include "target/target.h"

namespace lowtide::engine {

enum class WorkKind : uint8_t {
  kRegion,
  kLibrary,  ///< whole operands in, whole results out: library/library.h
  kControl,  ///< while, conditional: their computations have work of their own
  kView,     ///< the result is its first operand's bytes under another shape
  kOther,    ///< collectives, infeed, ...: planned, not executable here
};

struct Work {
  WorkKind kind = WorkKind::kRegion;
  const Instruction* instruction = nullptr;  ///< of all kinds but kRegion
  Region region;
};

struct ModuleWork {
  const Module* module = nullptr;
  const Target* target = nullptr;  ///< the target whose costs and roles were used
  /// For every computation that runs as steps: entry, loop conditions and bodies, branches. In the module's order.
  std::unordered_map<const Computation*, std::vector<Work>> of;
};

struct FormOptions {
  /// Leaves that must be stored although the cost model would keep them virtual, by Instruction::id; empty: none.
  std::vector<bool> store, keep_virtual;
  /// The price of a byte of memory in time: the higher, the more values are recomputed by their readers. None: the
  /// target's.
  std::optional<double> ns_per_stored_byte;
};

/// Decides which values are stored (by the target's costs) and groups computed values into regions. The module must be
/// flat: calls inlined, fusions expanded, every while and branch computation called from one place.
ModuleWork form_work(const Module& module, const Target& target, const FormOptions& options = {});

}  // namespace lowtide::engine
