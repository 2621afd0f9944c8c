#pragma once
/// The targets for which a session plans.

#include <memory>

#include "analysis/platform.h"
#include "base/context.h"
#include "target/target.h"

namespace lowtide::engine {

/// Context::own<Targets>(): modules and plans of the session keep them alive.
class Targets {
 public:
  explicit Targets(const Context&) {}
  /// For the backend that runs `ours`, with the costs of Settings::choices.machine, which has been validated before.
  void set(const Target& ours, const Settings& settings);
  const Target& program() const { return *ours_.program; }
  /// XLA, with the costs of the named machine, or else of a machine of the module's platform.
  const Target& xla(Platform platform) const;

 private:
  /// `program` models the time of `xla`.
  struct Pair {
    std::unique_ptr<const Target> program, xla;
  };
  static Pair priced(const Target& ours, std::string_view machine);
  Pair ours_, gpu_, tpu_;
};

}  // namespace lowtide::engine
