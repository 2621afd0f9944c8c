#pragma once
/// What JAX says of a program's arguments and results and HLO has no attribute for: the kinds of memory in which they
/// lie, by their names in JAX ("device", "pinned_host", "unpinned_host"), and the order of their dimensions there,
/// minor to major, as XLA writes it ("{0,1}", "{1,0:T(8,128)}"), or "auto". A module keeps them among its frontend
/// attributes; hosts act on them, and analysis/host_values.h:
///
///   frontend_attributes={lowtide.argument_memory_kinds="0:pinned_host 2:unpinned_host"}

#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

enum class EntrySide : uint8_t { kArguments, kResults };
enum class EntryNote : uint8_t { kMemoryKind, kLayout };

/// "mhlo.memory_kind": its name as an attribute in StableHLO.
std::string_view attribute_of(EntryNote note);
/// By number of the parameter, or of the result; empty where the program doesn't say. As many as the last that says.
std::vector<std::string> entry_notes(const Module& module, EntrySide side, EntryNote note);
/// In the place of those that the module has. Notes with spaces or quotes are left out.
void set_entry_notes(Module& module, EntrySide side, EntryNote note, const std::vector<std::string>& notes);

}  // namespace lowtide::engine
