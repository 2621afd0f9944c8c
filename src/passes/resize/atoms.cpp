#include "passes/resize/atoms.h"

#include <algorithm>

namespace lowtide::engine {

std::string to_string(const ExtentReason& reason) {
  if (reason.words == nullptr) return "";
  return reason.where == nullptr ? reason.words : std::string(reason.words) + " (%" + reason.where->name + ")";
}

Product Atoms::make(int64_t extent) {
  if (extent == 1) return {};
  Atom atom;
  atom.extent = extent;
  atom.frozen = extent < 1;
  if (atom.frozen) atom.reason.words = "nothing lies along it";
  atoms_.push_back(std::move(atom));
  return {static_cast<int32_t>(atoms_.size()) - 1};
}

void Atoms::add_whole(int32_t atom, Product& into) const {
  const Atom* at = &atoms_[atom];
  while (at->parts.size() == 1) {
    atom = at->parts[0];
    at = &atoms_[atom];
  }
  if (at->parts.empty()) into.push_back(atom);
  for (const int32_t part : at->parts) add_whole(part, into);
}

Product Atoms::whole(const Product& product) const {
  Product atoms;
  for (const int32_t atom : product) add_whole(atom, atoms);
  return atoms;
}

int64_t Atoms::extent(const Product& product) const {
  int64_t extent = 1;
  for (const int32_t atom : product) extent *= atoms_[atom].extent;
  return extent;
}

void Atoms::replace(int32_t atom, Product parts) {
  Atom& old = atoms_[atom];
  if (old.frozen) freeze(parts, old.reason);
  atoms_[atom].parts = std::move(parts);
}

void Atoms::unite(const Product& a, const Product& b, const ExtentReason& reason) {
  Product left = whole(a), right = whole(b);
  while (!left.empty() && !right.empty()) {
    const int32_t l = left[0], r = right[0];
    const int64_t le = extent(l), re = extent(r);
    if (le == re) {
      if (l != r) replace(r, {l});
    } else if (le > 1 && re > 1 && (le % re == 0 || re % le == 0)) {
      const Product rest = make(le > re ? le / re : re / le);
      if (le > re) replace(l, {r, rest[0]});
      if (re > le) replace(r, {l, rest[0]});
    } else {
      break;
    }
    // Splitting may have split the remaining atoms, too.
    left = whole(left);
    right = whole(right);
    left.erase(left.begin());
    right.erase(right.begin());
  }
  const ExtentReason clash = {"numbers that don't divide each other are reshaped into each other", reason.where};
  freeze(left, clash);
  freeze(right, clash);
}

void Atoms::freeze(const Product& product, const ExtentReason& reason) {
  for (const int32_t atom : whole(product)) {
    Atom& at = atoms_[atom];
    if (!at.frozen) at.reason = reason;
    at.frozen = true;
  }
}

}  // namespace lowtide::engine
