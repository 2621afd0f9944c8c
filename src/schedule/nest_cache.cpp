#include "schedule/nest_cache.h"

#include <algorithm>

#include "nest/accesses.h"
#include "region/identity.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostNodes = 1'000'000;  ///< of cached nests: some 200 MB; plans keep their own nests

}  // namespace

bool KnownNests::Known::may_lie_over(int32_t output, int32_t input) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto answer = answers_.find({output, input}); answer != answers_.end()) return answer->second;
  }
  const bool may = lowtide::engine::may_lie_over(nest, output, input);
  const std::lock_guard<std::mutex> lock(mutex_);
  return answers_.emplace(std::pair(output, input), may).first->second;
}

std::shared_ptr<const KnownNests::Known> KnownNests::of(const Region& region, const std::string& identity) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto known = by_identity_.find(identity); known != by_identity_.end()) return known->second;
  }
  auto made = std::make_shared<const Known>(lower(region));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (nodes_ > kMostNodes) by_identity_.clear(), nodes_ = 0;
  nodes_ += made->nest.nodes.size();
  return by_identity_.emplace(identity, std::move(made)).first->second;
}

const KnownNests::Known& NestCache::at(const Work& work) {
  auto& nest = nests_[&work];
  if (!nest) nest = known_->of(work.region, identity_of(work));
  return *nest;
}

const std::string& NestCache::identity_of(const Work& work) {
  std::string& known = identities_[&work];
  if (known.empty()) known = identity(work.region);
  return known;
}

bool NestCache::may_lie_over(const Work& work, int32_t output, int32_t input) {
  return at(work).may_lie_over(static_cast<int32_t>(work.region.inputs.size()) + output, input);
}

std::vector<int32_t> NestCache::idle_pieces(const Work& work,
                                            const std::vector<std::pair<int32_t, int32_t>>& outputs_over_inputs) {
  std::vector<int32_t> idle;
  const auto inputs = static_cast<int32_t>(work.region.inputs.size());
  for (const auto& [output, input] : outputs_over_inputs) {
    for (const int32_t p : lowtide::engine::idle_pieces(of(work), inputs + output, input)) idle.push_back(p);
  }
  std::sort(idle.begin(), idle.end());
  idle.erase(std::unique(idle.begin(), idle.end()), idle.end());
  return idle;
}

const std::vector<Part>& NestCache::assembly(const Work& work, int32_t output) {
  const auto [known, fresh] = assemblies_.try_emplace({&work, output});
  if (fresh) known->second = assembly_of(work.region, static_cast<size_t>(output));
  return known->second;
}

std::optional<Strips> NestCache::strips(const Work& work,
                                        const std::vector<std::pair<int32_t, int32_t>>& outputs_over_inputs) {
  std::vector<LiesOver> over;
  const auto inputs = static_cast<int32_t>(work.region.inputs.size());
  for (const auto& [output, input] : outputs_over_inputs) over.push_back({inputs + output, input});
  return plan_strips(of(work), inputs, over, target_.in_place().strips);
}

std::optional<Rearrangement> NestCache::rearrangement(const Work& work) {
  if (work.region.inputs.size() != 1 || work.region.outputs.size() != 1) return {};
  return plan_rearrangement(of(work), 1, 0);
}

}  // namespace lowtide::engine
