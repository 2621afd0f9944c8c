#pragma once
/// What each kind of operation can be in a program of kernels: what follows from the operation alone, whoever runs it.

#include "ir/module.h"

namespace lowtide::engine {

enum class OpRole : uint8_t {
  kNone,      ///< a name of other arrays, a token: nothing is executed
  kSource,    ///< stored before the computation begins: parameters, constants
  kComputed,  ///< by a region: an element at an index, an update, or both
  kLibrary,
  kControl,
  kOther,
};

bool has_element(const Instruction& i);
bool has_update(const Instruction& i);

/// May the result, where its operand is stored, be the same bytes under another shape?
bool can_be_view(const Instruction& i);

/// Does it take a library's blocking to be made fast: sums that are long, operands of which every element is read
/// often?
bool is_thick(const Instruction& dot);

/// Of a dot that isn't thick: so much work that a routine pays where nothing else is made with it.
bool is_worth_a_call(const Instruction& dot);

/// Does an element need many elements of operands, or work that nobody wants to see twice?
bool is_heavy(const Instruction& i);

}  // namespace lowtide::engine
