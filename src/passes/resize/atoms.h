#pragma once
/// Extents as products of atoms: reshapes only regroup the same atoms.

#include <cstdint>
#include <string>
#include <vector>

#include "ops/extents.h"

namespace lowtide::engine {

std::string to_string(const ExtentReason& reason);  ///< words and name; empty where nothing is known

class Atoms {
 public:
  /// A new atom, or none for extent 1.
  Product make(int64_t extent);

  /// Declares that both are the same dimension: their atoms are united in order, and split where one side has more of
  /// them. If they don't divide each other they stay unchanged.
  void unite(const Product& a, const Product& b, const ExtentReason& reason);
  void freeze(const Product& product, const ExtentReason& reason);

  /// The product in terms of atoms that aren't split further.
  Product whole(const Product& product) const;

  int32_t count() const { return static_cast<int32_t>(atoms_.size()); }
  int64_t extent(int32_t atom) const { return atoms_[atom].extent; }
  int64_t extent(const Product& product) const;
  bool is_frozen(int32_t atom) const { return atoms_[atom].frozen; }
  const ExtentReason& reason(int32_t atom) const { return atoms_[atom].reason; }

 private:
  struct Atom {
    int64_t extent = 1;
    Product parts;  ///< empty: the atom isn't split; one: it is united with that
    bool frozen = false;
    ExtentReason reason;
  };
  void replace(int32_t atom, Product parts);
  void add_whole(int32_t atom, Product& into) const;

  std::vector<Atom> atoms_;
};

}  // namespace lowtide::engine
