#pragma once
/// Matrix products by oneDNN. The library is loaded when the first one is asked
/// for; it computes in the calling thread only, and takes no memory but the
/// scratch it states.

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "ir/element_type.h"

namespace lowtide::engine {

/// left [m, k] times right [k, n], all dense: left and result row-major; right
/// too, or with columns contiguous.
class OneDnnMatmul {
 public:
  struct Form {
    ElementType operands = ElementType::kF32, result = ElementType::kF32;
    int64_t m = 0, n = 0, k = 0;
    bool right_by_columns = false;
    bool adds = false;  ///< to what the result holds
  };
  /// Null where oneDNN isn't installed, or would use code that is slow or takes
  /// hidden memory on this machine.
  static std::unique_ptr<OneDnnMatmul> make(const Form& form);
  ~OneDnnMatmul();

  int64_t scratch_bytes() const;
  bool is_by_tile_registers() const;
  /// May run in several threads at once, each with scratch of its own, aligned
  /// to 64 bytes.
  bool run(const void* left, const void* right, void* result, void* scratch);

 private:
  struct State;
  explicit OneDnnMatmul(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Are its products of bf16 no faster than those of f32 here? Processors that have no tile registers, of a maker that
/// runs bf16 at half the rate.
bool multiplies_bf16_slowly();

/// What a routine ends with: a fault where `run` refused one of its products.
Status products_done(bool refused);

}  // namespace lowtide::engine
