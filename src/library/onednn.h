#pragma once
/// Matrix products by oneDNN. The library is loaded when the first product is requested; it computes in the calling
/// thread only, and allocates no memory but the scratch it states.

#include <compare>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "ir/element_type.h"

namespace lowtide::engine {

/// left [m, k] times right [k, n], all dense: left and result are row-major; right is, too, or has contiguous columns.
class OneDnnMatmul {
 public:
  struct Form {
    ElementType operands = ElementType::kF32, result = ElementType::kF32;
    int64_t m = 0, n = 0, k = 0;
    bool right_by_columns = false;
    bool adds = false;  ///< adds to the result's contents
    auto operator<=>(const Form&) const = default;
  };
  /// Null if oneDNN isn't installed, or would use slow code or undeclared memory on this machine. Equal forms share it.
  static std::shared_ptr<const OneDnnMatmul> make(const Form& form);
  ~OneDnnMatmul();

  int64_t scratch_bytes() const;
  bool is_by_tile_registers() const;
  /// May run in several threads at once, each with its own scratch, aligned to 64 bytes.
  bool run(const void* left, const void* right, void* result, void* scratch) const;

 private:
  struct State;
  static std::shared_ptr<const OneDnnMatmul> make_new(const Form& form);
  explicit OneDnnMatmul(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Are bf16 products no faster than f32 products here? True for processors without tile registers from a vendor whose
/// processors run bf16 at half the rate.
bool multiplies_bf16_slowly();

/// The status of a finished routine: an error if `run` refused one of its products.
Status products_done(bool refused);

}  // namespace lowtide::engine
