#pragma once
/// The targets that a session plans for: those of its machine.

#include <memory>

#include "analysis/platform.h"
#include "base/context.h"
#include "target/target.h"

namespace lowtide::engine {

/// Context::own<Targets>(): whoever holds a module or a plan of the session holds them, too.
class Targets {
 public:
  explicit Targets(const Context&) {}
  /// For what runs `ours`, at the prices of Settings::choices.machine, which has been looked at before.
  void set(const Target& ours, const Settings& settings);
  const Target& program() const { return *ours_.program; }
  /// XLA, at the prices of the machine that was named, else of one of the platform that the module was made for.
  const Target& xla(Platform platform) const;

 private:
  /// What the second is for is modelled as the first.
  struct Pair {
    std::unique_ptr<const Target> program, xla;
  };
  static Pair priced(const Target& ours, std::string_view machine);
  Pair ours_, gpu_, tpu_;
};

}  // namespace lowtide::engine
