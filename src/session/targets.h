#pragma once
/// The targets that a session plans for: those of its machine.

#include <memory>

#include "base/context.h"
#include "target/target.h"

namespace lowtide::engine {

/// Context::own<Targets>(): whoever holds a module or a plan of the session holds them, too.
class Targets {
 public:
  explicit Targets(const Context&) {}
  /// For what runs `ours`, at the prices of Settings::choices.machine, which has been looked at before.
  void set(const Target& ours, const Settings& settings);
  const Target& program() const { return *program_; }
  const Target& xla() const { return *xla_; }

 private:
  std::unique_ptr<const Target> program_, xla_;
};

}  // namespace lowtide::engine
