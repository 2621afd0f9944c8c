#include "passes/resize/extents.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/shape_leaves.h"
#include "ops/op_rule.h"
#include "passes/resize/index_extents.h"
#include "passes/rules/index_forms.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostIntervals = 256;  ///< of one dimension; with more, its extent stays

/// An argument has the shape of the result that is its alias.
void relate_aliases(const Module& module, ModuleExtents& extents) {
  const std::vector<Instruction*> parameters = module.entry->parameters();
  for (const AliasEntry& alias : module.input_output_alias) {
    if (static_cast<size_t>(alias.operand) >= parameters.size()) continue;
    const Instruction& parameter = *parameters[alias.operand];
    int64_t from = 0, to = 0, count = 0, to_count = 0;
    if (!leaf_range(parameter.shape, alias.operand_index, from, count)) continue;
    if (!leaf_range(module.entry->root->shape, alias.output, to, to_count)) continue;
    ExtentRelater(parameter, extents).same_leaves(parameter, from, *module.entry->root, to, std::min(count, to_count));
  }
}

}  // namespace

ModuleExtents::ModuleExtents(const Module& module) : values_(static_cast<size_t>(module.id_limit())) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      auto& leaves = values_[i->id];
      for_each_leaf(i->shape, [&](const ShapeIndex&, const Shape& leaf) {
        std::vector<Product> dims;
        for (const int64_t extent : leaf.dims) dims.push_back(atoms_.make(extent));
        leaves.push_back(std::move(dims));
      });
      if (std::ranges::any_of(leaves, [](const auto& dims) { return !dims.empty(); })) {
        bool dynamic = false;
        for_each_leaf(i->shape, [&](const ShapeIndex&, const Shape& leaf) { dynamic |= !leaf.dynamic.empty(); });
        if (dynamic) freeze(*i, {"of an extent that only running it tells", i.get()});
      }
    }
  }
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      ExtentRelater relater(*i, *this);
      rule_of(i->opcode).extents.value(relater);
    }
  }
  relate_aliases(module, *this);
  relate_indices(module, *this);
  relate_intervals();
}

bool ModuleExtents::is_same_everywhere(const Instruction& array) const { return same_everywhere(array) != nullptr; }

bool ModuleExtents::counts_along(const Instruction& array, int64_t d) const {
  return engine::counts_along(array, d).has_value();
}

void ModuleExtents::freeze(const Instruction& i, const ExtentReason& reason) {
  for (const auto& leaf : values_[i.id]) {
    for (const Product& product : leaf) atoms_.freeze(product, reason);
  }
}

void ModuleExtents::relate(ExtentSum zero, const ExtentReason& reason, bool at_most) {
  relations_.push_back({std::move(zero), at_most, reason});
}

void ModuleExtents::tie(const Instruction& at, ExtentTie::Slot slot, size_t index, ExtentSum value) {
  // If two arrays are read at one computed index, each states its numbers: both statements must agree.
  const auto [known, is_new] = tie_of_.try_emplace({&at, slot, index}, ties_.size());
  if (is_new) {
    ties_.push_back({&at, slot, index, std::move(value)});
  } else {
    relate(value.add(-1, ties_[known->second].value), {"a number in it is stated by two extents", &at});
  }
}

void ModuleExtents::relate_intervals() {
  std::map<Product, std::vector<const ExtentInterval*>> by_whole;
  for (const ExtentInterval& interval : intervals_) by_whole[atoms_.whole(interval.whole)].push_back(&interval);
  for (const auto& [whole, intervals] : by_whole) {
    if (intervals.size() > kMostIntervals) {
      const ExtentReason many = {"cut in very many ways", intervals.front()->at};
      atoms_.freeze(whole, many);
      for (const ExtentInterval* i : intervals) {
        for (const ExtentSum::Term& term : i->part.terms) atoms_.freeze(term.product, many);
      }
      continue;
    }
    const int64_t extent = atoms_.extent(whole);
    std::set<int64_t> cuts{0, extent};
    for (const ExtentInterval* i : intervals) cuts.insert({i->begin, i->end});
    const std::vector<int64_t> places(cuts.begin(), cuts.end());
    std::vector<Product> pieces;
    for (size_t k = 0; k + 1 < places.size(); ++k) pieces.push_back(atoms_.make(places[k + 1] - places[k]));
    const auto between = [&](int64_t begin, int64_t end) {
      ExtentSum sum;
      for (size_t k = 0; k < pieces.size(); ++k) {
        if (places[k] >= begin && places[k + 1] <= end) sum.add(1, pieces[k]);
      }
      return sum;
    };
    const Instruction* first = intervals.front()->at;
    relate(between(0, extent).add(-1, ExtentSum(whole)), {"cut into pieces", first});
    for (const ExtentInterval* i : intervals) {
      relate(between(i->begin, i->end).add(-1, i->part), {"cut into pieces", i->at});
      for (const ExtentInterval::Mark& mark : i->marks) {
        const bool after = mark.counts == ExtentInterval::Mark::Counts::kBehind;
        const int64_t begin = after ? i->end : 0;
        const int64_t end = after ? extent : (mark.counts == ExtentInterval::Mark::Counts::kUntil ? i->end : i->begin);
        ExtentSum counted = ExtentSum().add(mark.sign, between(begin, end));
        counted.constant += mark.more;
        tie(*i->at, mark.slot, mark.index, std::move(counted));
      }
    }
  }
}

}  // namespace lowtide::engine
