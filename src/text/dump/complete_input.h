#pragma once
/// What stands beside a module that was read: XLA's reports, and the protobuf of the same stage.

#include <vector>

#include "text/dump/dump_files.h"
#include "text/input.h"

namespace lowtide::engine {

/// What these reports say together; files that can't be read are passed over.
XlaReport read_reports(const std::vector<const DumpFile*>& files);

/// Adds the reports to the input, and from the protobufs what is still missing: long constants that a text abbreviates,
/// and the allocations. Reports on another module are left out, with a warning.
void complete_input(const std::vector<const DumpFile*>& reports, const std::vector<const DumpFile*>& protos,
                    Input& input);

/// For a module that was named by its own file: finds by their names what stands beside it.
void complete_from_folder(Input& input);

}  // namespace lowtide::engine
