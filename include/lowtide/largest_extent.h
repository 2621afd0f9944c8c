#pragma once
/// The largest extent of a dimension of a program's arguments within a limit: of a batch, a sequence, a grid.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/visibility.h"

namespace lowtide {

struct LargestExtent {
  struct Trial {
    int64_t extent = 0;
    int64_t peak = 0;  ///< bytes; if it doesn't fit, the lowest found or a lower bound for any executor
    bool fits = false;
    double seconds = 0;   ///< modelled; 0: no plan was made
    std::string follows;  ///< extents that change with it: "64 -> 128, 4096 -> 8192"
  };
  std::string module;
  std::string dimension;     ///< "dimension 0 of batch['x']"
  int64_t given = 0;         ///< the extent in the program as it is
  int64_t step = 1;          ///< extents are multiples of it
  int64_t limit = 0;         ///< bytes
  bool for_xla = false;      ///< peaks are a model of XLA's account
  std::vector<Trial> tried;  ///< by increasing extent
  std::string
      beyond;  ///< why nothing above the largest was tried; empty: it wasn't requested, or the largest doesn't fit
  bool interrupted = false;  ///< before the largest was found

  LOWTIDE_PUBLIC const Trial* largest() const;  ///< the largest that fits; null: none does
  LOWTIDE_PUBLIC const Trial* next() const;     ///< the smallest above it that doesn't fit; null: all tried fit
  /// As JSON, schema_version 1 (docs/schema/lowtide.schema.json).
  LOWTIDE_PUBLIC std::string json() const;
  /// For a terminal of 100 columns. utf8: false for plain ASCII.
  LOWTIDE_PUBLIC std::string text(bool utf8 = true) const;
};

}  // namespace lowtide
