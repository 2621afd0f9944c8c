#pragma once
/// Completes a module by the files next to it: XLA's reports, and the protobuf of the same stage.

#include <vector>

#include "text/dump/dump_files.h"
#include "text/input.h"

namespace lowtide::engine {

/// Reads these reports into one; files that can't be read are skipped.
XlaReport read_reports(const std::vector<const DumpFile*>& files);

/// Adds the reports to the input, and then the data that only the protobufs have: long constants that a text
/// abbreviates, and the allocations. Reports on another module are left out, with a warning.
void complete_input(const std::vector<const DumpFile*>& reports, const std::vector<const DumpFile*>& protos,
                    Input& input);

/// Completes a module that was selected by its own file: finds the files next to it by their names.
void complete_from_folder(Input& input);

}  // namespace lowtide::engine
