#pragma once
/// A program's functions and operations, in the terms of ModuleBuilder: for front ends that translate programs.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/module.h"
#include "lowtide/visibility.h"

namespace lowtide {

struct ProgramOperation {
  std::string operation;         ///< as in HLO text: "dot"
  std::string name;              ///< its own in the program: "dot.3"
  std::vector<size_t> operands;  ///< operations of the same function, by their places in it
  /// As for ModuleBuilder, except that functions are referred to by their places: "to_apply", "%3".
  std::vector<ModuleBuilder::Attribute> attributes;
  std::vector<size_t> functions;         ///< places in the program of the functions it calls, in the attributes' order
  ModuleBuilder::Shape shape;            ///< the type of a token is "token"
  std::shared_ptr<const void> elements;  ///< a constant's elements: row-major, in the type's own bytes
  int64_t parameter = -1;                ///< the number of a parameter
  int64_t trips = -1;                    ///< a while loop's trip count; -1: not known beforehand
  bool has_side_effect = false;          ///< such as stateful random bits, checks, host calls
  std::string place;                     ///< "step.hlo:12:3"; empty: the program wasn't read from a text
};

struct ProgramFunction {
  std::string name;
  std::vector<ProgramOperation> operations;  ///< operands before users
  size_t result = 0;                         ///< the place of the operation whose value is the function's result
};

/// All functions, each after those it calls; the last one is the entry. kUnsupported: shapes are dynamic, or values are
/// reinterpreted by their layouts (bitcast in optimised programs); the message names the operation and its place.
LOWTIDE_PUBLIC Result<std::vector<ProgramFunction>> functions_of(const Module& module);

}  // namespace lowtide
