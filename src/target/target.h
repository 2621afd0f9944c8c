#pragma once
/// The thing that runs a program, or takes it: what planning asks of it. Regions, passes, schedules and the search for
/// a limit know no other way to learn what a machine, a library or another compiler does; they are handed a target by
/// whoever asks for a plan, and never look for one themselves.

#include <memory>
#include <string_view>

#include "target/cost.h"
#include "target/in_place_ways.h"
#include "target/roles.h"

namespace lowtide::engine {

/// What it is handed.
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
  /// The same at another machine's prices; null: it knows none but its own.
  virtual std::unique_ptr<const Target> priced_as(const Machine&) const { return nullptr; }
  virtual Takes takes() const = 0;
  const Machine& machine() const { return cost_.machine(); }
  const Cost& cost() const { return cost_; }
  /// Whose programs stand for its own where time is modelled: of one that takes modules, one that takes programs.
  virtual const Target& modelled_as() const { return *this; }
  /// The part of an arena by which what is known of its use of memory may be off: smaller savings may be none.
  virtual double uncertain_part() const { return 0; }

  /// What the operation is in a program for this target.
  OpRole role_of(const Instruction& i) const;
  /// Of an operation that regions make because others may be made with it: where none is, does its routine make it?
  bool calls_alone(const Instruction& i) const;
  /// Has it a routine for this instance on whole arrays? Otherwise regions make it, or nobody can.
  virtual bool has_routine(const Instruction& i) const = 0;
  /// What the routine takes beside operands and results; 64-byte aligned.
  virtual int64_t scratch_bytes(const Instruction& i) const = 0;
  /// Leaf of the operands (flattened) that the routine may write result leaf `leaf` over; kNoId: none.
  virtual int overwritten_operand(const Instruction& i, int64_t leaf) const = 0;

  /// How results may lie over operands in what it runs.
  virtual const InPlaceLimits& in_place() const = 0;

 protected:
  explicit Target(const Machine& machine) : cost_(machine) {}

 private:
  const Cost cost_;
};

}  // namespace lowtide::engine
