#pragma once
/// Regions as nests, lowered on first use, equal ones only once: within a plan, and across all plans of a module.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "nest/nest.h"
#include "region/assembly.h"
#include "schedule/flow.h"
#include "schedule/program.h"
#include "schedule/strips.h"

namespace lowtide::engine {

/// Cached facts about nests by the identity of their regions, across modules. Thread-safe.
class KnownNests {
 public:
  /// May buffer `output` of the nest alias buffer `input`?
  class Known {
   public:
    explicit Known(Nest made) : nest(std::move(made)) {}
    const Nest nest;
    bool may_lie_over(int32_t output, int32_t input) const;

   private:
    mutable std::mutex mutex_;
    mutable std::map<std::pair<int32_t, int32_t>, bool> answers_;
  };
  /// identity: the region's (region/identity.h).
  std::shared_ptr<const Known> of(const Region& region, const std::string& identity);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Known>> by_identity_;
  size_t nodes_ = 0;  ///< of all nests
};

/// One plan's queries about the regions of its work.
class NestCache {
 public:
  NestCache(std::shared_ptr<KnownNests> known, const Target& target) : known_(std::move(known)), target_(target) {}
  const Target& target() const { return target_; }
  const Nest& of(const Work& work) { return at(work).nest; }
  /// May output `output` of the region alias its input `input`?
  bool may_lie_over(const Work& work, int32_t output, int32_t input);
  /// Pieces with nothing to do if each of these outputs aliases the input paired with it.
  std::vector<int32_t> idle_pieces(const Work& work,
                                   const std::vector<std::pair<int32_t, int32_t>>& outputs_over_inputs);
  /// Inputs that this output contains unchanged.
  const std::vector<Part>& assembly(const Work& work, int32_t output);
  /// How the region runs if each of these outputs aliases the input paired with it.
  std::optional<Strips> strips(const Work& work, const std::vector<std::pair<int32_t, int32_t>>& outputs_over_inputs);
  /// How the region's result is made in place by moving its operand.
  std::optional<Rearrangement> rearrangement(const Work& work);

 private:
  const KnownNests::Known& at(const Work& work);
  const std::string& identity_of(const Work& work);

  const std::shared_ptr<KnownNests> known_;
  const Target& target_;
  std::unordered_map<const Work*, std::string> identities_;
  std::unordered_map<const Work*, std::shared_ptr<const KnownNests::Known>> nests_;
  std::map<std::pair<const Work*, int32_t>, std::vector<Part>> assemblies_;
};

}  // namespace lowtide::engine
