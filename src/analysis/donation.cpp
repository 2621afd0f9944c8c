#include "analysis/donation.h"

#include <algorithm>
#include <map>

namespace lowtide::engine {

int64_t Donation::alias_bytes() const {
  int64_t sum = 0;
  for (const Pair& pair : pairs) sum = add_bytes(sum, pair.bytes);
  return sum;
}

Donation find_donation(const Module& module, const Leaves& leaves, const Partitioning& sizes, bool with_donors) {
  Donation donation;
  if (!module.entry || leaves.count(*module.entry) < 0) return donation;
  donation.donated.assign(static_cast<size_t>(leaves.count(*module.entry)), false);
  if (!module.entry->root) return donation;
  const Instruction& root = *module.entry->root;
  const std::vector<Instruction*> parameters = module.entry->parameters();
  std::vector<bool> result_taken(static_cast<size_t>(leaves.count(root)), false);
  const auto parameter = [&](int64_t number) -> const Instruction* {
    return number >= 0 && number < static_cast<int64_t>(parameters.size()) ? parameters[number] : nullptr;
  };
  for (const AliasEntry& alias : module.input_output_alias) {
    const Instruction* p = parameter(alias.operand);
    int64_t from = 0, count_in = 0, to = 0, count_out = 0;
    if (!p || !leaf_range(p->shape, alias.operand_index, from, count_in)) continue;
    if (!leaf_range(root.shape, alias.output, to, count_out)) continue;
    for (int64_t l = 0; l < std::min(count_in, count_out); ++l) {
      const auto in = static_cast<int32_t>(from + l), out = static_cast<int32_t>(to + l);
      const int32_t argument = leaves.first(*p) + in;
      if (donation.donated[argument] || result_taken[out]) continue;
      donation.donated[argument] = result_taken[out] = true;
      const LeafBytes a = sizes.of(*p, in), b = sizes.of(root, out);
      if (a.memory_space != b.memory_space) continue;
      donation.pairs.push_back({argument, out, a.memory_space == 0 ? std::min(a.bytes, b.bytes) : 0});
    }
  }
  if (!with_donors) return donation;
  std::multimap<int64_t, int32_t> free_results;  // bytes -> leaf
  for (int32_t l = 0; l < leaves.count(root); ++l) {
    const LeafBytes size = sizes.of(root, l);
    if (!result_taken[l] && size.memory_space == 0) free_results.emplace(size.bytes, l);
  }
  for (const Module::Donor& donor : module.buffer_donors) {
    const Instruction* p = parameter(donor.parameter);
    int64_t from = 0, count = 0;
    if (!p || !leaf_range(p->shape, donor.index, from, count)) continue;
    for (int64_t l = from; l < from + count; ++l) {
      const int32_t argument = leaves.first(*p) + static_cast<int32_t>(l);
      const LeafBytes size = sizes.of(*p, static_cast<int32_t>(l));
      if (donation.donated[argument] || size.memory_space != 0) continue;
      donation.donated[argument] = true;
      const auto fits = free_results.find(size.bytes);
      if (size.bytes == 0 || fits == free_results.end()) continue;
      donation.pairs.push_back({argument, fits->second, size.bytes});
      free_results.erase(fits);
    }
  }
  return donation;
}

}  // namespace lowtide::engine
