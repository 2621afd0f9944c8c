#pragma once
/// Merges successive moves into one: boxes that are cut and reassembled.
///
///     concatenate(slice(x, [0:4]), slice(x, [4:9]))          slice(x, [0:9])
///     concatenate(x[:k], y, x[m:]) under dynamic-update-slice(x, .., 0)
///                                                      ==>   dynamic-update-slice(x, y, k)
///     dynamic-update-slice(dynamic-update-slice(x, u, 2), v, 0), v over all of u
///                                                            dynamic-update-slice(x, v, 0)
///     updates that together cover x along one dimension      concatenate(..)
///     dynamic-update-slice(x, x[:n-1], 1), which can't be made in place
///                                                            concatenate(x[:1], x[:n-1]); one in another, where it is
///                                                            a box of several dimensions
///     slice(slice(x))                                        slice(x)
///     dynamic-slice at a known place                         slice
///     a collective of one device                             its operand
///
/// Saves the intermediate array, if it would be stored, and its operands, which then die earlier, and removes reads
/// that would prevent an update in place.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not joined: slices with other strides than 1, places that aren't known; slices of what an update wrote, or kept:
/// they would read the update, or the array before it, which would then live longer and prevent the update in place.
/// Tests: tests/text/passes/join-boxes/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> join_boxes(Module& module);

}  // namespace lowtide::engine
