#pragma once
/// Many plans of one module: what they share is done once.

#include "compile/compile.h"

namespace lowtide {

class Planner {
 public:
  /// Rewrites a copy of the module as far as all plans do.
  static Result<Planner> make(const Module& module);

  Result<Compiled> plan(const Decisions& decisions, const PassOptions& options = {.quiet = true}) const;
  /// The module in which the last of these streams stands, and the next one would be found.
  Result<std::unique_ptr<Module>> streamed(const Decisions& decisions) const;
  /// Are there stacks that loops could derive for more time than the pipeline grants?
  bool could_derive() const { return could_derive_; }
  int64_t instructions() const { return shared_->instruction_count(); }

 private:
  Planner() = default;
  std::shared_ptr<const Module> shared_;  ///< behind the rows that every plan runs
  std::vector<PassRecord> passes_;
  bool could_derive_ = false;
};

}  // namespace lowtide
