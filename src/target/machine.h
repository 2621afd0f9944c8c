#pragma once
/// A machine as numbers: what planning may know about the machine that runs a program, local or not. Only facts:
/// target/cost.h derives costs from them.
///
/// Times are nanoseconds, sizes bytes. A core is one of those that share a kernel: on a GPU, one multiprocessor.

#include <cstdint>
#include <string>
#include <vector>

namespace lowtide::engine {

/// Memory that a program's buffers can lie in.
struct MemorySpace {
  std::string name;   ///< "memory", "device", "pinned host"
  int number = 0;     ///< S(n) in HLO's layouts
  int64_t bytes = 0;  ///< 0: whatever is available at the time
};

/// The connection between two memory spaces, by their positions in Machine::spaces.
struct Link {
  int from = 0, to = 0;
  double byte_ns = 0, start_ns = 0;
};

struct Machine {
  std::string name;

  // Arithmetic, of one core.
  double cores = 1;
  double plain_ns = 0;           ///< an element of a plain f32 operation, in full vectors
  double dependent_step_ns = 0;  ///< a step of a fold that waits for the previous one
  double scattered_ns = 0;       ///< an element added where an index says
  double lookup_ns = 0;          ///< an element of a small table
  double kernel_factor = 1;      ///< measured over modelled time of whole kernels' arithmetic
  int64_t kernel_lanes = 1;      ///< below which a kernel's innermost loop isn't filled

  // Memory.
  double byte_ns = 0;         ///< to or from memory, by one core
  double cached_read_ns = 0;  ///< an element that another reader has brought near
  double memory_factor = 1;   ///< measured over modelled time of whole kernels' traffic, all cores
  double near_bytes = 0;      ///< buffers of at most this size are in a cache of the core
  double near_factor = 1;     ///< relative to a byte from memory
  double far_bytes = 0;       ///< larger buffers are in no cache; 0: there are only the cores' own caches
  double far_factor = 1;      ///< of the time that a byte takes otherwise
  double row_ns = 0;          ///< to continue in a row that isn't contiguous with the previous one

  // Products of matrices by a library: a term is a multiplication and an addition in f32.
  double product_ns = 0;           ///< a term, all cores
  double least_product_width = 1;  ///< of f32's time: what narrower types take at least
  int64_t product_rows = 1;        ///< below which a product isn't filled
  double rows_to_fill = 0;         ///< each tile of rows copies the right matrix; so many cost as much
  double depth_to_fill = 0;        ///< and each result is read and written for so many terms,
  double few_rows = 0;             ///< or, where rows are few and columns cut for the cores,
  double depth_to_cut = 0;         ///< copied for so many;
  double order_to_fill = 0;        ///< matrices to be factored, of this order, take twice the time of their terms
  double columns_to_turn = 0;      ///< a left matrix that lies by columns is copied: so many columns cost as much

  // Other libraries, all cores.
  double compare_ns = 0;  ///< of a sort
  double wave_ns = 0;     ///< of a Fourier transform of pairs of f32, per number and halving

  // Starts.
  double kernel_start_ns = 0;   ///< cost of an additional kernel when deciding which kernels there are
  double step_start_ns = 0;     ///< of a step that is a kernel, as it is measured
  double sharing_ns = 0;        ///< a step that takes one core less is not shared by all
  double meeting_ns = 0;        ///< of the cores, at the end of a step that they share
  double library_start_ns = 0;  ///< of one call
  double copy_start_ns = 0;
  double trip_ns = 0;  ///< of a loop, its steps aside

  // The price of a byte of memory in time.
  double stored_byte_ns = 0;  ///< of a value that could be computed where it is read,
  double generated_byte_ns =
      0;                    ///< the same for values computed from indices and a few scalars, such as random numbers
  double kept_byte_ns = 0;  ///< of a value that could be recomputed later

  std::vector<MemorySpace> spaces;  ///< the first is where buffers lie
  std::vector<Link> links;
};

}  // namespace lowtide::engine
