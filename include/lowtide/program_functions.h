#pragma once
/// What a program consists of, in the words of ModuleBuilder: for front ends that translate programs.

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
  /// As ModuleBuilder takes them, except that functions are named by their places: "to_apply", "%3".
  std::vector<ModuleBuilder::Attribute> attributes;
  std::vector<size_t> functions;  ///< that it calls, by their places in the program, in the order of the attributes
  ModuleBuilder::Shape shape;     ///< the type of a token is "token"
  std::shared_ptr<const void> elements;  ///< of a constant: row-major, in the type's own bytes
  int64_t parameter = -1;                ///< the number of a parameter
  int64_t trips = -1;                    ///< of a while loop; -1: not known beforehand
  bool has_side_effect = false;          ///< it does more than make its value: stateful random bits, checks, host calls
  std::string place;                     ///< "step.hlo:12:3"; empty: the program wasn't read from a text
};

struct ProgramFunction {
  std::string name;
  std::vector<ProgramOperation> operations;  ///< operands before users
  size_t result = 0;                         ///< the place of the operation that is its value
};

/// All functions, each after those it calls; the last one is the entry. kUnsupported: shapes are dynamic, or values are
/// reinterpreted by their layouts (bitcast in optimised programs); the message names the operation and its place.
LOWTIDE_PUBLIC Result<std::vector<ProgramFunction>> functions_of(const Module& module);

}  // namespace lowtide
