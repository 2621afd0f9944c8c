#include "target/machine.h"

namespace lowtide::engine {

const Machine& two_zen5_cores() {
  static constexpr MemorySpace kSpaces[] = {{.name = "memory", .number = 0, .bytes = 0}};
  static constexpr Machine kMachine = {
      .name = "two Zen 5 cores",

      .cores = 2,
      .plain_ns = 0.02,  // a vector of 16 lanes in one of two ports, loads and address arithmetic aside
      .dependent_step_ns = 2,
      .scattered_ns = 1,
      .lookup_ns = 0.3,
      .kernel_factor = 2.5,
      .kernel_lanes = 64,

      .byte_ns = 0.08,
      .cached_read_ns = 0.02,
      .memory_factor = 2,
      .near_bytes = 1 << 20,
      .near_factor = 0.2,

      .product_ns = 0.009,           // 220 GF/s
      .streamed_product_ns = 0.004,  // 500 GF/s
      .least_product_width = 0.6,
      .product_rows = 32,
      .rows_to_fill = 12,
      .depth_to_fill = 10,
      .few_rows = 192,
      .depth_to_cut = 30,
      .columns_to_turn = 30,

      .compare_ns = 1,
      .wave_ns = 0.5,

      .kernel_start_ns = 1500,
      .meeting_ns = 3000,
      .library_start_ns = 3000,
      .copy_start_ns = 1000,
      .trip_ns = 100,

      .stored_byte_ns = 0.3,
      .generated_byte_ns = 3,  // five hashes cost less
      .kept_byte_ns = 2,

      .spaces = kSpaces,
      .links = {},
  };
  return kMachine;
}

}  // namespace lowtide::engine
