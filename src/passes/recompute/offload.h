#pragma once
/// Moves values that are live at the fullest moment, and read only later, to the host's memory until then.
///
///     a = f(x)                              a = f(x)   h = copy(a) in S(5)
///     ...            the fullest moment     ...
///     da = g(a)                        ==>  da = g(copy(h))
///
/// Saves the value's bytes on the device for two transfers over the link between the memories. A stack that a loop
/// fills for a later one lies in host memory as a whole: slices are written there, and read from there.
///
/// Values go one after another, the largest at the fullest moment first, and of equally large ones the one that is kept
/// longest; after each, another moment may be the fullest.
///
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: exact.
/// Not moved: arguments, results, values that are also read at the fullest moment, and values in a tuple at that time.
/// Tests: tests/text/passes/offload/, tests/unit/offload_test.cpp

#include <string>
#include <vector>

#include "passes/pass.h"

namespace lowtide::engine {

/// A value that was moved, and the instruction at which most bytes were live; by name.
struct Offloaded {
  std::string value, moment;
};

/// Moves at most `count` values. done: what was moved, in order.
Result<PassResult> offload(Module& module, int64_t count, std::vector<Offloaded>* done = nullptr);

/// Moves the same values in a module with the same names and other extents, if they are live at these moments there.
Result<PassResult> offload_alike(Module& module, const std::vector<Offloaded>& done);

/// The number of values that offload() would move without a limit.
int64_t offloadable(const Module& module);

}  // namespace lowtide::engine
