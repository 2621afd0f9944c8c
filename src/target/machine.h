#pragma once
/// A machine as numbers: what planning may know about the machine that runs a program, local or not. Only facts:
/// target/cost.h derives costs from them.
///
/// Times are nanoseconds, sizes bytes. A core is one of those that share a kernel: on a GPU, one multiprocessor.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/xla_backend.h"

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
  double scattered_ns = 0;       ///< an element added at an index
  double lookup_ns = 0;          ///< an element of a small table
  double row_term_ns = 0;        ///< a term of a short product whose rows are in lanes, to transpose it
  double kernel_factor = 1;      ///< measured over modelled time of whole kernels' arithmetic
  int64_t kernel_lanes = 1;      ///< below which a kernel's innermost loop isn't filled
  double vector_lanes = 1;       ///< rows of fewer elements don't fill a vector,
  double narrow_factor = 1;      ///< relative to the arithmetic of full vectors

  // Memory.
  double byte_ns = 0;           ///< to or from memory, by one core
  double streamed_byte_ns = 0;  ///< to or from memory in a stream's tile, by all cores
  double cached_read_ns = 0;    ///< an element that another reader has brought into a cache
  double memory_factor = 1;     ///< measured over modelled time of whole kernels' traffic, all cores
  double near_bytes = 0;        ///< buffers of at most this size are in a cache of the core
  double near_factor = 1;       ///< relative to a byte from memory
  double far_bytes = 0;         ///< larger buffers are in no cache; 0: there are only the cores' own caches
  double far_factor = 1;        ///< relative to a byte of a buffer that isn't larger
  double row_ns = 0;            ///< to continue in a row that isn't contiguous with the previous one
  double nearest_bytes = 0;     ///< larger buffers aren't in the first cache of a core:
  double near_row_ns = 0;       ///< there, to continue in a row that is shorter than a cache line

  // Products of matrices by a library: a term is a multiplication and an addition in f32.
  double product_ns = 0;           ///< a term, all cores
  double least_product_width = 1;  ///< relative to f32's time: the least that narrower types take
  int64_t product_rows = 1;        ///< below which a product isn't filled
  double rows_to_fill = 0;         ///< copying the right matrix per tile takes as long as this many rows
  double depth_to_fill = 0;        ///< reading and writing each result takes as long as so many terms
  double few_rows = 0;             ///< with fewer rows, columns are divided among the cores:
  double depth_to_cut = 0;         ///< then copying each result takes as long as so many terms
  double order_to_fill = 0;        ///< factoring a matrix of this order takes twice the time of its terms
  double columns_to_turn = 0;      ///< copying a column-major left matrix takes as long as so many columns

  // Other libraries, all cores.
  double compare_ns = 0;  ///< of a sort
  double wave_ns = 0;     ///< of a Fourier transform of pairs of f32, per number and halving

  // Starts.
  double kernel_start_ns = 0;   ///< cost of an additional kernel when deciding which kernels there are
  double step_start_ns = 0;     ///< of a step that is a kernel, as measured
  double sharing_ns = 0;        ///< a step that takes one core less time isn't divided among cores
  double meeting_ns = 0;        ///< synchronisation of the cores after a step that they share
  double library_start_ns = 0;  ///< of one call
  double copy_start_ns = 0;
  double trip_ns = 0;  ///< an iteration of a loop, without its steps

  // The price of a byte of memory in time.
  double stored_byte_ns = 0;  ///< of a value that could be computed where it is read,
  double generated_byte_ns =
      0;                    ///< the same for values computed from indices and a few scalars, such as random numbers
  double kept_byte_ns = 0;  ///< of a value that could be recomputed later

  XlaBackend xla_backend = XlaBackend::kGpu;  ///< XLA's compiler for it

  std::vector<MemorySpace> spaces;  ///< the first is where buffers lie
  std::vector<Link> links;
};

}  // namespace lowtide::engine
