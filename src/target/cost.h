#pragma once
/// What work costs on a machine, in modelled nanoseconds: the one place where facts of a machine become prices. Whoever
/// decides (what is virtual, streamed, recomputed, in which order) asks here, and only ratios of the answers matter.

#include "ir/module.h"
#include "target/machine.h"

namespace lowtide::engine {

/// What a kernel does, all of it, once.
struct KernelWork {
  double arithmetic_ns = 0;  ///< of one core, by Cost::element_ns
  double bytes = 0;          ///< read and written
  double rows_ns = 0;        ///< beside the bytes, by Cost::rows_ns
};

class Cost {
 public:
  explicit Cost(const Machine& machine) : machine_(machine) {}
  const Machine& machine() const { return machine_; }

  // Elements, by one core.

  /// One element of the operation, its operands given. For those with loops inside (reduce, dot, while): all of it.
  double element_ns(const Instruction& i) const;
  /// A fold that makes each result from the one before, all of it.
  double running_fold_ns(const Instruction& fold) const;
  /// Elements added where indices say.
  double scatter_ns(double elements) const { return machine_.scattered_ns * elements; }
  double cached_read_ns() const { return machine_.cached_read_ns; }
  double lookup_ns() const { return machine_.lookup_ns; }
  double plain_ns() const { return machine_.plain_ns; }
  /// A byte to or from memory.
  double byte_ns() const { return machine_.byte_ns; }

  // Choices between kernels: what they take for certain, which is less than what is measured.

  double kernel_start_ns() const { return machine_.kernel_start_ns; }
  double kernel_ns(const KernelWork& work) const;
  /// An instruction's own work, all of it, where streams are weighed.
  double streamed_ns(const Instruction& i, bool in_library) const;
  /// A byte read by all cores.
  double shared_byte_ns() const { return machine_.byte_ns / machine_.cores; }
  /// An instruction's own work, all of it, by one core, where something is to be recomputed: products at the price that
  /// they have as steps, where that is lower than element by element.
  double repeated_ns(const Instruction& i) const;
  double stored_byte_ns() const { return machine_.stored_byte_ns; }
  double generated_byte_ns() const { return machine_.generated_byte_ns; }
  double kept_byte_ns() const { return machine_.kept_byte_ns; }

  // Steps of a program, by all cores: as they are measured.

  /// What a byte of a buffer of so many bytes takes, of what it takes from a cache that all cores share.
  double distance(double whole) const;
  /// Bytes of a buffer that lies in `whole` bytes.
  double traffic_ns(double bytes, double whole) const;
  /// By one core: to read or write the box of these extents in an array of that shape, whose rows lie apart.
  double rows_ns(const Shape& whole, const Shape& box) const;
  /// distance: of all its bytes, in the mean. part: of the work, which isn't done where results are
  /// there already.
  double kernel_step_ns(const KernelWork& work, double distance, double part) const;
  double library_step_ns(const Instruction& i, double traffic_ns) const;
  /// Elements moved about in place.
  double rearrangement_step_ns(double sweeps, double traffic_ns) const;
  double copy_step_ns(double traffic_ns) const { return machine_.copy_start_ns + 2 * traffic_ns; }
  double trip_ns() const { return machine_.trip_ns; }

 private:
  /// By all cores, or by one alone where that is sooner.
  double shared_ns(double one_core) const;
  double library_ns(const Instruction& i) const;
  double unknown_call_ns(const Instruction& call) const;
  double product_ns(const Instruction& dot) const;
  double computation_ns(const Computation& computation, int depth) const;
  double operation_ns(const Instruction& i) const;

  const Machine machine_;
};

/// What the operation adds to a kernel's code, in plain operations: functions are written out, and compiling takes as
/// long as that is.
int32_t code_size(const Instruction& i);

}  // namespace lowtide::engine
