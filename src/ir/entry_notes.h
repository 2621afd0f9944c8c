#pragma once
/// JAX's notes about a program's arguments and results for which HLO has no attribute: the kinds of memory that hold
/// them, by their names in JAX ("device", "pinned_host", "unpinned_host"), and the order of their dimensions there,
/// minor to major, as XLA writes it ("{0,1}", "{1,0:T(8,128)}"), or "auto". A module keeps them among its frontend
/// attributes; hosts and analysis/host_values.h use them:
///
///   frontend_attributes={lowtide.argument_memory_kinds="0:pinned_host 2:unpinned_host"}

#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

enum class EntrySide : uint8_t { kArguments, kResults };
enum class EntryNote : uint8_t { kMemoryKind, kLayout };

/// The note's name as an attribute in StableHLO: "mhlo.memory_kind".
std::string_view attribute_of(EntryNote note);
/// The notes by number of the parameter, or of the result; empty if the program has none. The list ends with the last
/// note.
std::vector<std::string> entry_notes(const Module& module, EntrySide side, EntryNote note);
/// Replaces the module's notes. Notes with spaces or quotes are left out.
void set_entry_notes(Module& module, EntrySide side, EntryNote note, const std::vector<std::string>& notes);

}  // namespace lowtide::engine
