#include "ops/extents.h"

#include <algorithm>

#include "ir/shape_leaves.h"
#include "ops/dimension_roles.h"

namespace lowtide::engine {

ExtentSum& ExtentSum::add(int64_t times, const ExtentSum& other) {
  for (const Term& term : other.terms) terms.push_back({times * term.times, term.product});
  constant += times * other.constant;
  return *this;
}

void ExtentRelater::unite(const Product& a, const Product& b) {
  if (extent(a) == extent(b)) all_.unite(a, b, why("the same as another"));
}

void ExtentRelater::at_most(const Product& part, const Product& whole) {
  if (extent(part) == extent(whole)) return unite(part, whole);
  relate(ExtentSum(part).add(-1, whole), "a part is no larger than the whole", true);
}

void ExtentRelater::freeze(const Instruction& i, const char* words) {
  for (int64_t leaf = 0; leaf < leaf_count(i.shape); ++leaf) {
    for (const Product& product : leaf_of(i, leaf)) freeze(product, words);
  }
}

void ExtentRelater::same(const Instruction& a, int64_t a_leaf, const Instruction& b, int64_t b_leaf) {
  const std::vector<Product>& left = leaf_of(a, a_leaf);
  const std::vector<Product>& right = leaf_of(b, b_leaf);
  for (size_t d = 0; d < std::min(left.size(), right.size()); ++d) unite(left[d], right[d]);
}

void ExtentRelater::same_leaves(const Instruction& a, int64_t a_first, const Instruction& b, int64_t b_first,
                                int64_t count) {
  for (int64_t k = 0; k < count; ++k) same(a, a_first + k, b, b_first + k);
}

void ExtentRelater::all_leaves(const Instruction& a, const Instruction& b) {
  same_leaves(a, 0, b, 0, std::min(leaf_count(a.shape), leaf_count(b.shape)));
}

void ExtentRelater::same_results() {
  for (int64_t leaf = 1; leaf < leaf_count(i_.shape); ++leaf) same(i_, 0, i_, leaf);
}

void ExtentRelater::passes(const Computation& called, size_t first, size_t step) {
  const std::vector<Instruction*> parameters = called.parameters();
  for (size_t k = 0; k < parameters.size(); ++k) {
    const size_t operand = first + step * k;
    if (parameters[k] != nullptr && operand < i_.operands.size()) all_leaves(*parameters[k], i_.operand(operand));
  }
}

void ExtentRelater::returns(const Computation& called) {
  if (called.root != nullptr) all_leaves(i_, *called.root);
}

void free_extents(ExtentRelater&) {}

void unknown_extents(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  constexpr const char* kWords = "an operation that is not looked into";
  r.freeze(i, kWords);
  for (const Instruction* operand : i.operands) r.freeze(*operand, kWords);
}

void extents_by_roles(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  std::vector<std::pair<int64_t, Product>> folds;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const std::vector<OperandDimension> roles = operand_roles(i, k);
    for (size_t j = 0; j < roles.size(); ++j) {
      const OperandDimension& role = roles[j];
      const Product& theirs = r.of_operand(k, j);
      if (role.role == DimensionRole::kReduced && role.fold >= 0) {
        const auto known = std::ranges::find(folds, role.fold, &std::pair<int64_t, Product>::first);
        if (known == folds.end())
          folds.emplace_back(role.fold, theirs);
        else
          r.unite(known->second, theirs);
      }
      if (!role.is_in_step()) continue;
      if (role.result_dimension >= 0) r.unite(r.mine(static_cast<size_t>(role.result_dimension)), theirs);
    }
  }
}

void extents_of_operand(ExtentRelater& r) { r.same_as_operand(0); }

void relate_square(ExtentRelater& r, const Instruction& matrices) {
  const size_t rank = matrices.shape.dims.size();
  r.unite(r.dimension(matrices, 0, rank - 1), r.dimension(matrices, 0, rank - 2));
}

Product row_major(const std::vector<Product>& dims) {
  Product all;
  for (const Product& d : dims) all.insert(all.end(), d.begin(), d.end());
  return all;
}

}  // namespace lowtide::engine
