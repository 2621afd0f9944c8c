#pragma once
/// The attributes of a foreign call: an MLIR dictionary, converted to the structures that handlers read.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "foreign_abi.h"
#include "lowtide/error.h"

namespace lowtide::pjrt {

/// Element types as XLA numbers them, by the names of HLO's ("f32", "pred") or MLIR's ("i1", "ui8"). 0: unknown.
XLA_FFI_Type foreign_type(std::string_view name);

class ForeignAttributes {
 public:
  /// {eps = 1.0e-05 : f32, n = 3 : i64, name = "x", flag = true, sizes = array<i64: 1, 2>, rows = dense<[1, 2]> :
  /// tensor<2xi32>, inner = {...}}; empty: none. kInput names the attribute that isn't one of these.
  static Result<ForeignAttributes> parse(std::string_view dictionary);

  /// Valid as long as this object, which may be moved, but not copied.
  const XLA_FFI_Attributes& all() const { return dictionaries_.back().all; }

  ForeignAttributes(ForeignAttributes&&) = default;
  ForeignAttributes& operator=(ForeignAttributes&&) = default;
  ForeignAttributes(const ForeignAttributes&) = delete;
  ForeignAttributes& operator=(const ForeignAttributes&) = delete;

 private:
  struct Dictionary {
    XLA_FFI_Attributes all;
    std::vector<int> kinds;
    std::vector<XLA_FFI_Span*> names;
    std::vector<void*> values;
  };
  class Reader;
  ForeignAttributes() = default;

  // The data to which the structures point, at addresses that don't change.
  std::deque<std::string> texts_;
  std::deque<std::vector<std::max_align_t>> numbers_;
  std::deque<XLA_FFI_Span> spans_;
  std::deque<XLA_FFI_Scalar> scalars_;
  std::deque<XLA_FFI_Array> arrays_;
  std::deque<Dictionary> dictionaries_;  ///< inner ones first
};

}  // namespace lowtide::pjrt
