#pragma once
/// Updates a slice of a stack in place, without copying it out and back.
///
///     x = reshape(dynamic-slice(c, i))                        c' = dynamic-update-slice(c, u', i, j)
///     y = dynamic-update-slice(x, u, j)                ==>     y  = reshape(dynamic-slice(c', i))
///     c' = dynamic-update-slice(c, reshape(y), i)
///
/// Saves bytes(y), and the time to copy it twice: other readers of y find it in the stack.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact. Along each dimension the outer slice is whole and starts at 0, or the inner update covers all of it
/// (as of a slice one element thick): then clamping the combined start equals clamping each.
/// Tests: tests/text/passes/update-where-it-lies/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> update_where_it_lies(Module& module);

}  // namespace lowtide::engine
