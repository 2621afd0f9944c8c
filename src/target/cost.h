#pragma once
/// The cost of work on a machine, in modelled nanoseconds: the only place where facts of a machine become costs. All
/// decisions (what is virtual, streamed, recomputed, in which order) use it, and only ratios matter.

#include "ir/module.h"
#include "target/machine.h"

namespace lowtide::engine {

/// The work of one run of a kernel.
struct KernelWork {
  double arithmetic_ns = 0;  ///< of one core, by Cost::element_ns
  double bytes = 0;          ///< read and written
  double rows_ns = 0;        ///< in addition to the time for the bytes, by Cost::rows_ns
};

class Cost {
 public:
  explicit Cost(const Machine& machine) : machine_(machine) {}
  const Machine& machine() const { return machine_; }

  // Elements, by one core.

  /// One element of the operation, from given operands. For operations with inner loops (reduce, dot, while): all of
  /// it.
  double element_ns(const Instruction& i) const;
  /// A fold that computes each result from the previous one (a scan), all of it.
  double running_fold_ns(const Instruction& fold) const;
  /// Elements added at indices (a scatter), all of it.
  double scatter_ns(const Instruction& scatter) const;
  /// Looking at all indices of a scatter that takes only a part of its updates.
  double skipping_ns(const Instruction& scatter) const;
  double cached_read_ns() const { return machine_.cached_read_ns; }
  double lookup_ns() const { return machine_.lookup_ns; }
  double plain_ns() const { return machine_.plain_ns; }
  /// A byte to or from memory.
  double byte_ns() const { return machine_.byte_ns; }

  // For choices between kernels: lower bounds of their time, below measured times.

  double kernel_start_ns() const { return machine_.kernel_start_ns; }
  double kernel_ns(const KernelWork& work) const;
  /// All of an instruction's own work, for the comparison of streams.
  double streamed_ns(const Instruction& i, bool in_library) const;
  /// A byte that a stream's tile reads or writes.
  double streamed_byte_ns() const { return machine_.streamed_byte_ns; }
  /// A byte read by all cores.
  double shared_byte_ns() const { return machine_.byte_ns / machine_.cores; }
  /// All of an instruction's own work, by one core, for recomputation: products at their cost as steps, if that is
  /// lower than elementwise.
  double repeated_ns(const Instruction& i) const;
  double stored_byte_ns() const { return machine_.stored_byte_ns; }
  double generated_byte_ns() const { return machine_.generated_byte_ns; }
  double kept_byte_ns() const { return machine_.kept_byte_ns; }

  // Steps of a program, by all cores: fitted to measurements.

  /// The time per byte of a buffer with this many bytes, relative to that from a cache that all cores share.
  double distance(double whole) const;
  /// Bytes of a buffer that lies in `whole` bytes.
  double traffic_ns(double bytes, double whole) const;
  /// By one core: the time to read or write a box with these extents in an array of that shape, whose rows aren't
  /// contiguous.
  double rows_ns(const Shape& whole, const Shape& box) const;
  /// The same if the box is columns, each element in a cache line of its own; else 0.
  double columns_ns(const Shape& whole, const Shape& box) const;
  /// distance: the mean over all its bytes. part: the share of the work that is done; the rest is skipped if results
  /// are there already.
  double kernel_step_ns(const KernelWork& work, double distance, double part) const;
  double library_step_ns(const Instruction& i, double traffic_ns) const;
  /// Steps that no backend here computes: unknown calls are priced by their work, collectives by their traffic.
  double other_step_ns(const Instruction& i, double traffic_ns) const;
  /// Elements rearranged in place.
  double rearrangement_step_ns(double sweeps, double traffic_ns) const;
  double copy_step_ns(double traffic_ns) const { return machine_.copy_start_ns + 2 * traffic_ns; }
  double trip_ns() const { return machine_.trip_ns; }
  /// Does the machine have separate host memory for a program's values?
  bool has_host_memory() const { return !machine_.links.empty(); }
  /// The time to move bytes between that memory and the device's, in addition to the time on the device.
  double host_ns(double bytes) const;

 private:
  /// By all cores, or by only one if that is faster.
  double shared_ns(double one_core) const;
  double library_ns(const Instruction& i) const;
  double unknown_call_ns(const Instruction& call) const;
  double product_ns(const Instruction& dot) const;
  double sort_ns(const Instruction& sort) const;
  double computation_ns(const Computation& computation, int depth) const;
  double operation_ns(const Instruction& i) const;

  const Machine machine_;
};

/// The code that the operation adds to a kernel, in plain operations: functions are expanded, and compile time grows
/// with it.
int32_t code_size(const Instruction& i);

}  // namespace lowtide::engine
