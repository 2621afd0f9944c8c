#include "target/machines.h"

namespace lowtide::engine {
namespace {

/// Two server cores with AVX-512 and 2 MiB of second-level cache each; figures in docs are from such a machine. The
/// times were measured on some 1,700 steps of JAX programs (bench/predicted.py).
Machine zen5() {
  return {
      .name = "zen5",

      .cores = 2,
      .plain_ns = 0.02,  // a vector of 16 lanes in one of two ports, without loads and address arithmetic
      .dependent_step_ns = 2,
      .scattered_ns = 1,
      .lookup_ns = 0.3,
      .row_term_ns = 0.1,
      .kernel_factor = 0.5,
      .kernel_lanes = 64,
      .vector_lanes = 16,
      .narrow_factor = 2,

      .byte_ns = 0.08,
      .streamed_byte_ns = 0.08,
      .cached_read_ns = 0.02,
      .memory_factor = 0.5,
      .near_bytes = 2 << 20,
      .near_factor = 0.5,
      .far_bytes = 64 << 20,
      .far_factor = 1.6,
      .row_ns = 40,
      .nearest_bytes = 32 << 10,
      .near_row_ns = 3,

      .product_ns = 0.009,  // 220 GF/s
      .least_product_width = 0.6,
      .product_rows = 32,
      .rows_to_fill = 12,
      .depth_to_fill = 10,
      .few_rows = 192,
      .depth_to_cut = 30,
      .order_to_fill = 300,
      .columns_to_turn = 30,

      .compare_ns = 1,
      .wave_ns = 0.08,

      .kernel_start_ns = 1500,
      .step_start_ns = 300,
      .sharing_ns = 12'000,
      .meeting_ns = 2000,
      .library_start_ns = 500,
      .copy_start_ns = 200,
      .trip_ns = 100,

      .stored_byte_ns = 0.3,
      .generated_byte_ns = 3,  // five hashes cost less
      .kept_byte_ns = 2,

      .xla_backend = XlaBackend::kCpu,

      .spaces = {{.name = "memory", .number = 0, .bytes = 0}},
      .links = {},
  };
}

/// Facts from an accelerator's data sheet, reduced to what programs reach.
struct Datasheet {
  const char* name;
  double memory_bytes, gigabytes_per_second, cache_bytes, cache_factor;
  double cores, lanes, gigahertz;
  double f32_teraflops, narrowest;  ///< of products; time per term of the narrowest type, relative to f32
  double host_gigabytes_per_second;
  double launch_ns, trip_ns;
  XlaBackend xla_backend = XlaBackend::kGpu;
};

Machine accelerator(const Datasheet& d) {
  constexpr double kReached =
      0.8;  // of the arithmetic of products: limited by power and by tiles that don't fill the last wave
  const double byte_ns = d.cores / d.gigabytes_per_second;  // as if each core had its own share
  const double element_ns = 1 / (d.lanes * d.gigahertz);
  return {
      .name = d.name,

      .cores = d.cores,
      .plain_ns = element_ns,
      .dependent_step_ns = 20,
      .scattered_ns = 8 * element_ns,
      .lookup_ns = 4 * element_ns,
      .kernel_factor = 1.5,
      .kernel_lanes = 1024,

      .byte_ns = byte_ns,
      .streamed_byte_ns = byte_ns / d.cores,
      .cached_read_ns = byte_ns,
      .memory_factor = 1,
      .near_bytes = d.cache_bytes / 2,
      .near_factor = d.cache_factor,
      .row_ns = 0,  // other threads run meanwhile

      .product_ns = 2e-3 / (kReached * d.f32_teraflops),
      .least_product_width = d.narrowest,
      .product_rows = 128,
      .rows_to_fill = 64,
      .depth_to_fill = 64,
      .few_rows = 128,
      .depth_to_cut = 256,
      .order_to_fill = 1000,
      .columns_to_turn = 0,  // either layout is read in place

      .compare_ns = 16 / d.gigabytes_per_second / 8,
      .wave_ns = 8 / d.gigabytes_per_second / 4,

      .kernel_start_ns = d.launch_ns,
      .step_start_ns = d.launch_ns,
      .sharing_ns = 0,
      .meeting_ns = 0,
      .library_start_ns = d.launch_ns,
      .copy_start_ns = d.launch_ns,
      .trip_ns = d.trip_ns,

      // The same multiples of the time per byte of traffic as on a CPU.
      .stored_byte_ns = 4 * byte_ns,
      .generated_byte_ns = 40 * byte_ns,
      .kept_byte_ns = 25 * byte_ns,

      .xla_backend = d.xla_backend,

      .spaces = {{.name = "device", .number = 0, .bytes = static_cast<int64_t>(d.memory_bytes)},
                 {.name = "pinned host", .number = 5, .bytes = 0}},
      .links = {{.from = 0, .to = 1, .byte_ns = 1 / d.host_gigabytes_per_second, .start_ns = 10'000},
                {.from = 1, .to = 0, .byte_ns = 1 / d.host_gigabytes_per_second, .start_ns = 10'000}},
  };
}

}  // namespace

std::span<const Machine> machines() {
  static const std::vector<Machine> kMachines = {
      zen5(),
      // f32 products use tf32, as in XLA; loops return to the host for their condition.
      accelerator({.name = "h100",
                   .memory_bytes = 85.0e9,
                   .gigabytes_per_second = 3000,
                   .cache_bytes = 50e6,
                   .cache_factor = 0.4,
                   .cores = 132,
                   .lanes = 128,
                   .gigahertz = 1.98,
                   .f32_teraflops = 494,
                   .narrowest = 0.25,
                   .host_gigabytes_per_second = 50,
                   .launch_ns = 1300,
                   .trip_ns = 5000}),
      accelerator({.name = "h200",
                   .memory_bytes = 150.8e9,
                   .gigabytes_per_second = 4300,
                   .cache_bytes = 60e6,
                   .cache_factor = 0.4,
                   .cores = 132,
                   .lanes = 128,
                   .gigahertz = 1.98,
                   .f32_teraflops = 494,
                   .narrowest = 0.25,
                   .host_gigabytes_per_second = 50,
                   .launch_ns = 1300,
                   .trip_ns = 5000}),
      // Two cores that run one program together; f32 products use one pass of bf16, as in XLA.
      accelerator({.name = "v5p",
                   .memory_bytes = 103e9,
                   .gigabytes_per_second = 2460,
                   .cache_bytes = 128e6,
                   .cache_factor = 0.2,
                   .cores = 2,
                   .lanes = 4096,
                   .gigahertz = 1.75,
                   .f32_teraflops = 459,
                   .narrowest = 1,
                   .host_gigabytes_per_second = 16,
                   .launch_ns = 500,
                   .trip_ns = 500,
                   .xla_backend = XlaBackend::kTpu}),
  };
  return kMachines;
}

}  // namespace lowtide::engine
