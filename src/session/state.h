#pragma once
/// The state of the public classes.

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/context.h"
#include "base/open_files.h"
#include "compile/compile.h"
#include "lowtide/session.h"
#include "session/calls.h"
#include "session/targets.h"
#include "text/input.h"

namespace lowtide {

struct Session::State {
  Options options;
  std::shared_ptr<engine::Context> context;
  const engine::Backend* backend =
      nullptr;  ///< runs the session's plans; chosen when it is opened, and named nowhere else
  /// The target whose costs it plans with; owned by the context, like everything that its plans need.
  const engine::Target& target() const { return targets->program(); }
  const engine::Target& xla(engine::Platform platform) const { return targets->xla(platform); }
  const engine::Targets* targets = nullptr;
  engine::OpenFiles* files = nullptr;  ///< the context's, where signal handlers look
  engine::Calls calls;                 ///< in progress: cancel() stops them
};

struct Module::State {
  engine::Input input;
  std::string dump;  ///< the dump directory from which it was read, as named by the user; empty: none
};

struct Plan::State {
  std::shared_ptr<const engine::Module> module;  ///< as given
  engine::Compiled compiled;
};

namespace engine {

/// The arrays among a module's arguments (or results).
std::vector<ProgramArray> arrays_of_arguments(const Module& module);
std::vector<ProgramArray> arrays_of_results(const Module& module);

}  // namespace engine
}  // namespace lowtide
