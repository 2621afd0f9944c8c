#pragma once
/// The possible roles of each kind of operation in a program of kernels, as far as the operation alone determines them.

#include "ir/module.h"

namespace lowtide::engine {

enum class OpRole : uint8_t {
  kNone,      ///< an alias of other arrays, a token: nothing is executed
  kSource,    ///< stored before the computation begins: parameters, constants
  kComputed,  ///< by a region: an element at an index, an update, or both
  kLibrary,
  kControl,
  kOther,
};

bool has_element(const Instruction& i);
bool has_update(const Instruction& i);
/// Does its update compute each result from the previous one (a prefix sum)? It then reads each operand element once,
/// while any single result depends on all before it.
bool is_running_fold(const Instruction& i);

/// May the result be a view of its operand, if that is stored?
bool can_be_view(const Instruction& i);

/// Does it need a library's blocking to be fast: long sums, operands whose elements are all read often?
bool is_thick(const Instruction& dot);

/// For a dot that isn't thick: is there so much work that a routine pays, if nothing else is computed with it?
bool is_worth_a_call(const Instruction& dot);

/// Does an element need many elements of operands, or work too expensive to repeat?
bool is_heavy(const Instruction& i);

}  // namespace lowtide::engine
