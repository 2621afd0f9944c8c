#pragma once
/// Runs with arguments from files and results to files.

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "lowtide/run.h"
#include "session/state.h"
#include "text/safetensors.h"

namespace lowtide::engine {

lowtide::Result<Run> bind_run(std::shared_ptr<Session::State> session, std::shared_ptr<LoadedProgram> program,
                              const std::vector<ProgramArray>& arguments, const std::vector<ProgramArray>& results,
                              RunFiles files);

/// An interpreted run.
lowtide::Result<Run> interpret_run(std::shared_ptr<Session::State> session, std::unique_ptr<Module> module,
                                   RunFiles files);

/// kUsage if the results file has no room for these results.
lowtide::Result<void> check_room(const std::vector<ProgramArray>& results, const RunFiles& files);
/// Renames the file's arrays to the names by which they are looked up: "arg0".
Status name_by_number(TensorFile& file, const std::string& prefix, const std::vector<ProgramArray>& arrays);

}  // namespace lowtide::engine
