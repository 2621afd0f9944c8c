#pragma once
/// Routines of the library against the definitions of their operations.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "interp/interpreter.h"
#include "library/library.h"
#include "text/hlo.h"

namespace lowtide::engine::library_test {

using Bytes = std::vector<std::byte>;

std::unique_ptr<Module> read(const std::string& text);

/// Runs the root of the entry through the library. Its operands are parameters; of others `arguments` has the values,
/// at the operand's number. All memory but the declared scratch is guarded by a pattern. Returns the results.
std::vector<Bytes> run(const Module& module, std::span<const Value> arguments, int threads, bool in_place);

/// The text of a product of two parameters.
std::string dot(const std::string& result, const std::string& left, const std::string& right,
                const std::string& attributes);
/// The text of a sort; `shapes` of its operands, between semicolons.
std::string sort(const std::string& shapes, const std::string& result, int dimension, const std::string& comparator);

/// Small numbers of both signs, many of them equal.
Value random_array(const Shape& shape, unsigned seed);
/// Square matrices of a batch become hermitian and positive definite: factors exist, and pivots are no matter of
/// rounding.
Value definite(const Value& array);
void flatten(const Value& value, std::vector<Value>& leaves);

/// On one thread and on three, and in place where it may be. `tolerance` is relative to the largest element; 0: the
/// same bits. `factors`: square operands are hermitian and positive definite.
void expect_as_defined(const std::string& text, double tolerance, unsigned seed = 1, bool factors = false);

}  // namespace lowtide::engine::library_test
