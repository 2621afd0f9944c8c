#include "passes/resize/solve_extents.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace lowtide::engine {
namespace {

constexpr int64_t kUnknown = -1;

/// A relation over unsplit atoms; terms with equal products are added up.
struct Plain {
  std::vector<ExtentSum::Term> terms;
  int64_t constant = 0;
  bool at_most = false;
  ExtentReason reason;
  std::vector<int32_t> atoms;  ///< each once
};

Plain plain(const ExtentRelation& relation, const Atoms& atoms) {
  std::map<Product, int64_t> times;
  Plain p{.terms = {},
          .constant = relation.sum.constant,
          .at_most = relation.at_most,
          .reason = relation.reason,
          .atoms = {}};
  for (const ExtentSum::Term& term : relation.sum.terms) {
    Product product = atoms.whole(term.product);
    std::ranges::sort(product);
    if (product.empty())
      p.constant += term.times;
    else
      times[product] += term.times;
  }
  for (auto& [product, n] : times) {
    if (n == 0) continue;
    p.terms.push_back({n, product});
    p.atoms.insert(p.atoms.end(), product.begin(), product.end());
  }
  std::ranges::sort(p.atoms);
  p.atoms.erase(std::unique(p.atoms.begin(), p.atoms.end()), p.atoms.end());
  return p;
}

class Solver {
 public:
  Solver(const ModuleExtents& extents, const std::function<int64_t(int32_t, int64_t)>& wish)
      : atoms_(extents.atoms()),
        frozen_(static_cast<size_t>(atoms_.count())),
        reasons_(frozen_.size()),
        of_atom_(frozen_.size()) {
    for (int32_t a = 0; a < atoms_.count(); ++a) {
      if (atoms_.whole({a}) != Product{a}) continue;
      order_.push_back(a);
      if (atoms_.is_frozen(a)) freeze(a, atoms_.reason(a));
    }
    std::ranges::sort(order_, {}, [&](int32_t a) { return std::pair(atoms_.extent(a), a); });
    wishes_.resize(frozen_.size());
    for (const int32_t a : order_) wishes_[a] = wish(a, atoms_.extent(a));
    add_relations(extents);
  }

  SolvedExtents solve() {
    while (!attempt()) {
    }
    SolvedExtents solved{values_, reasons_};
    for (const int32_t a : order_) {
      const auto at = static_cast<size_t>(a);
      const bool stays = values_[at] == atoms_.extent(a) && wishes_[at] != values_[at];
      if (!stays) solved.reasons[at] = {};
    }
    return solved;
  }

 private:
  void add_relations(const ModuleExtents& extents) {
    std::map<std::pair<std::vector<std::pair<int64_t, Product>>, std::pair<int64_t, bool>>, bool> known;
    for (const ExtentRelation& relation : extents.relations()) {
      Plain p = plain(relation, atoms_);
      if (p.atoms.empty()) continue;
      std::vector<std::pair<int64_t, Product>> key;
      for (const auto& term : p.terms) key.emplace_back(term.times, term.product);
      if (!holds(p)) {  // possible where a dimension is empty
        for (const int32_t a : p.atoms) freeze(a, p.reason);
        continue;
      }
      if (!known.try_emplace({std::move(key), {p.constant, p.at_most}}, true).second) continue;
      for (const int32_t a : p.atoms) of_atom_[a].push_back(relations_.size());
      relations_.push_back(std::move(p));
    }
  }

  /// Does the relation hold for the current extents?
  bool holds(const Plain& p) const {
    int64_t sum = p.constant;
    for (const ExtentSum::Term& term : p.terms) sum += term.times * atoms_.extent(term.product);
    return p.at_most ? sum <= 0 : sum == 0;
  }

  void freeze(int32_t a, const ExtentReason& reason) {
    const auto at = static_cast<size_t>(a);
    if (!frozen_[at]) reasons_[at] = reason;
    frozen_[at] = true;
  }

  /// False: a relation was violated; now its atoms are frozen, or their wishes larger.
  bool attempt() {
    values_.assign(frozen_.size(), kUnknown);
    for (const int32_t a : order_) {
      if (frozen_[a] && !assign(a, atoms_.extent(a))) return false;
    }
    for (const int32_t a : order_) {
      if (value(a) == kUnknown && !assign(a, wishes_[a])) return false;
    }
    return true;
  }

  int64_t value(int32_t a) const { return values_[a]; }

  bool assign(int32_t atom, int64_t extent) {
    if (value(atom) == extent) return true;
    values_[atom] = extent;
    std::vector<int32_t> open{atom};
    while (!open.empty()) {
      const int32_t a = open.back();
      open.pop_back();
      for (const size_t r : of_atom_[a]) {
        if (!follow(relations_[r], open)) return false;
      }
    }
    return true;
  }

  /// Derives the value of a relation's only unknown atom. False: the relation is violated.
  bool follow(const Plain& relation, std::vector<int32_t>& open) {
    int32_t unknown = -1;
    for (const int32_t a : relation.atoms) {
      if (value(a) != kUnknown) continue;
      if (unknown >= 0) return true;
      unknown = a;
    }
    int64_t factor = 0, rest = relation.constant;
    for (const ExtentSum::Term& term : relation.terms) {
      int64_t product = term.times;
      int power = 0;
      for (const int32_t a : term.product) {
        if (a == unknown)
          ++power;
        else
          product *= value(a);
      }
      if (power > 1) return true;
      (power == 1 ? factor : rest) += product;
    }
    if (unknown < 0) {
      if (relation.at_most ? rest <= 0 : rest == 0) return true;
      return give_up(relation);
    }
    if (relation.at_most) return true;
    if (factor == 0) return rest == 0 || give_up(relation);
    const int64_t found = -rest / factor;
    const bool stays = found == atoms_.extent(unknown);
    const bool may_change = found >= 1 && !frozen_[unknown];
    if (rest % factor != 0 || !(stays || may_change)) return give_up(relation);
    values_[unknown] = found;
    open.push_back(unknown);
    return true;
  }

  /// Wishes for wholes that are too small for their parts grow; otherwise all atoms of the relation keep their extents.
  bool give_up(const Plain& relation) {
    if (relation.at_most) {
      int64_t wholes = 0;
      for (const int32_t a : relation.atoms) {
        const auto at = static_cast<size_t>(a);
        const bool whole = std::ranges::any_of(relation.terms, [&](const auto& t) {
          return t.times < 0 && std::ranges::find(t.product, a) != t.product.end();
        });
        if (!whole || frozen_[at] || wishes_[at] >= atoms_.extent(a)) continue;
        wishes_[at] = std::min(atoms_.extent(a), 2 * wishes_[at]);
        ++wholes;
      }
      if (wholes > 0) return false;
    }
    for (const int32_t a : relation.atoms) freeze(a, relation.reason);
    return false;
  }

  const Atoms& atoms_;
  std::vector<bool> frozen_;
  std::vector<ExtentReason> reasons_;
  std::vector<std::vector<size_t>> of_atom_;
  std::vector<int32_t> order_;
  std::vector<int64_t> wishes_, values_;
  std::vector<Plain> relations_;
};

}  // namespace

int64_t SolvedExtents::of(const Product& whole) const {
  return std::accumulate(whole.begin(), whole.end(), int64_t{1},
                         [&](int64_t n, int32_t atom) { return n * values[atom]; });
}

int64_t SolvedExtents::of(const ExtentSum& sum, const Atoms& atoms) const {
  int64_t n = sum.constant;
  for (const ExtentSum::Term& term : sum.terms) n += term.times * of(atoms.whole(term.product));
  return n;
}

SolvedExtents solve_extents(const ModuleExtents& extents, const std::function<int64_t(int32_t, int64_t)>& wish) {
  return Solver(extents, wish).solve();
}

}  // namespace lowtide::engine
