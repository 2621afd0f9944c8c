#pragma once
/// Regions as nests, lowered when first asked, equal ones once: within a plan, and in all plans of a module.

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

/// What is known of nests by the identity of their regions, whatever module these stand in. Several threads may ask.
class KnownNests {
 public:
  /// May buffer `output` of the nest be the bytes of buffer `input`?
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

/// What one plan asks of the regions of its work.
class NestCache {
 public:
  NestCache(std::shared_ptr<KnownNests> known, const Target& target) : known_(std::move(known)), target_(target) {}
  const Target& target() const { return target_; }
  const Nest& of(const Work& work) { return at(work).nest; }
  /// May output `output` of the region be the bytes of its input `input`?
  bool may_lie_over(const Work& work, int32_t output, int32_t input);
  /// Pieces with nothing to do where each of these outputs is the bytes of the input beside it.
  std::vector<int32_t> idle_pieces(const Work& work,
                                   const std::vector<std::pair<int32_t, int32_t>>& outputs_over_inputs);
  /// Inputs that stand as they are in this output.
  const std::vector<Part>& assembly(const Work& work, int32_t output);
  /// How the region runs where each of these outputs is the bytes of the input beside it.
  std::optional<Strips> strips(const Work& work, const std::vector<std::pair<int32_t, int32_t>>& outputs_over_inputs);
  /// How the region's result is made where its operand lies, by moving it.
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
