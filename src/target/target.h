#pragma once
/// What planning may query about the machine or compiler that takes a program. Regions, passes, schedules and the
/// search for a limit learn about machines, libraries and other compilers only in this way; the caller that wants a
/// plan passes the target.

#include <memory>
#include <optional>
#include <string_view>

#include "target/cost.h"
#include "target/in_place_ways.h"
#include "target/roles.h"

namespace lowtide::engine {

/// What it takes.
enum class Takes : uint8_t {
  kProgram,  ///< work as regions, in an order, in one arena: planning decides all of it
  kModule,   ///< HLO: it fuses elementwise loops, orders and packs by itself, and knows no operation but HLO's
};

class Target {
 public:
  virtual ~Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  virtual std::string_view name() const = 0;
  /// The same with another machine's costs; null if it has only its own.
  virtual std::unique_ptr<const Target> priced_as(const Machine&) const { return nullptr; }
  virtual Takes takes() const = 0;
  const Machine& machine() const { return cost_.machine(); }
  const Cost& cost() const { return cost_; }
  /// The target whose programs model its time: for one that takes modules, one that takes programs.
  virtual const Target& modelled_as() const { return *this; }
  /// The compiler that modules are handed to; none: programs run as planned.
  virtual std::optional<XlaBackend> xla_backend() const { return std::nullopt; }
  /// The relative error of the estimate of its memory use: smaller savings may not be real.
  virtual double uncertain_part() const { return 0; }

  /// The role of the operation in a program for this target.
  OpRole role_of(const Instruction& i) const;
  /// For an operation that regions compute so that others can be fused with it: if none is, does its routine compute
  /// it?
  bool calls_alone(const Instruction& i) const;
  /// Does it have a routine for this instance on whole arrays? Otherwise regions compute it, or it can't be computed.
  virtual bool has_routine(const Instruction& i) const = 0;
  /// Scratch that the routine needs besides operands and results; 64-byte aligned.
  virtual int64_t scratch_bytes(const Instruction& i) const = 0;
  /// Leaf of the operands (flattened) that the routine may write result leaf `leaf` over; kNoId: none.
  virtual int overwritten_operand(const Instruction& i, int64_t leaf) const = 0;

  /// How results may alias operands in its programs.
  virtual const InPlaceLimits& in_place() const = 0;

 protected:
  explicit Target(const Machine& machine) : cost_(machine) {}

 private:
  const Cost cost_;
};

}  // namespace lowtide::engine
