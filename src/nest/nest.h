#pragma once
/// A nest: one kernel as data. Loops around scalars, loads and stores; code generation decides which loop is
/// vectorised. Arithmetic consists of HLO's elementwise operations with HLO's semantics, so that a nest can be
/// interpreted (ops/execute.h) as well as compiled (codegen/).

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "ir/element_type.h"
#include "ir/opcode.h"

namespace lowtide::engine {

using NodeId = int32_t;  ///< index into Nest::nodes
inline constexpr int32_t kNoId = -1;

/// An integer: constant + sum of coefficient * atom. Atoms are s64 nodes of kind kLoopIndex or kOperation, kLoad, ...
struct Affine {
  struct Term {
    NodeId atom = kNoId;
    int64_t coefficient = 0;
    bool operator==(const Term&) const = default;
  };
  int64_t constant = 0;
  std::vector<Term> terms;  ///< by atom, ascending; no coefficient is zero
  int64_t coefficient_of(NodeId atom) const {
    for (const Term& term : terms) {
      if (term.atom == atom) return term.coefficient;
    }
    return 0;
  }
  bool operator==(const Affine&) const = default;
};

/// An index of an array: one integer per dimension.
using Index = std::vector<Affine>;

enum class NodeKind : uint8_t {
  kConstant,   ///< one element of `type`, its stored bytes in `bits` (c128: both words)
  kArgument,   ///< of a Function: argument number `slot`
  kLoopIndex,  ///< s64: the index of `loop`, 0 <= index < extent
  kAffine,     ///< s64: the value of `affine`
  kOperation,  ///< `opcode`, an elementwise HLO operation, on `operands`
  kFma,        ///< a * b + c, rounded once; f32 and f64. Only function expansions make it
  kTable,      ///< element (operand - table->first) of `table`, which has one for every value the operand can have
  kLoad,       ///< element `affine` of `buffer`, which counts in elements of its type
  kCarried,    ///< inside `loop`: its carried value `slot`
  kResult,     ///< after `loop`: the final value of its loop-carried value `slot`
};

/// Elements known beforehand, one for each integer from `first` on.
struct Table {
  int64_t first = 0;
  std::vector<uint64_t> elements;  ///< their stored bytes
};

struct Node {
  NodeKind kind = NodeKind::kConstant;
  Opcode opcode = Opcode::kTuple;
  ElementType type = ElementType::kPred;
  CompareAttributes compare;                   ///< of a compare
  ReducePrecisionAttributes reduce_precision;  ///< of a reduce-precision
  std::vector<NodeId> operands;
  std::array<uint64_t, 2> bits{};
  int32_t buffer = kNoId, loop = kNoId, slot = 0;
  Affine affine;
  std::shared_ptr<const Table> table;
  int64_t least = INT64_MIN, greatest = INT64_MAX;  ///< of integers: known bounds, both inclusive
  int32_t block = 0;                                ///< the block that contains it
};

/// A scalar computation, such as a reduction's combiner. Arguments are nodes of kind kArgument.
struct Function {
  std::vector<Node> nodes;  ///< operands before users
  std::vector<NodeId> results;
  int32_t argument_count = 0;
};

enum class LoopKind : uint8_t {
  kParallel,    ///< iterations may run in any order, at once; carries nothing
  kReduce,      ///< carries accumulators that may be split into lanes and merged by `combine`
  kSequential,  ///< iterations run in order
  kWhile,       ///< runs as long as `condition`, computed in `head`, holds; in lanes: until no lane's holds,
                ///< a lane that is done keeps its values
};

struct Carried {
  ElementType type = ElementType::kPred;
  NodeId initial = kNoId;  ///< outside the loop
  NodeId next = kNoId;     ///< in its body
};

struct Item {
  enum Kind : uint8_t { kNode, kLoop, kStore } kind = kNode;
  int32_t id = kNoId;
};

/// Straight-line code: items in order. Nodes of kind kAffine, kOperation, kFma, kTable and kLoad are items; the others
/// are available without one: constants everywhere, an index and loop-carried values in the loop, results after it.
struct Block {
  int32_t parent = kNoId;  ///< contains its loop; for a while loop's body: its head; kNoId: the kernel's own
  int32_t loop = kNoId;
  std::vector<Item> items;
};

struct Loop {
  LoopKind kind = LoopKind::kParallel;
  int64_t extent = 0;  ///< trip count; of kWhile unknown and 0
  NodeId index = kNoId;
  std::vector<Carried> carried;
  /// kReduce: 2n arguments (n accumulators, n others), n results. The initial values are an identity of it, or else the
  /// loop has neutral values: lanes start with `neutral`, and `initial` is combined once, at the end.
  std::shared_ptr<const Function> combine;
  std::vector<NodeId>
      neutral;           ///< kReduce: constants, one per accumulator; empty: lanes start with their first element
  int32_t body = kNoId;  ///< block
  int32_t head = kNoId;  ///< block of kWhile's condition
  NodeId condition = kNoId;
  bool one_by_one = false;  ///< must not be vectorised: each iteration may be the first of a call
};

/// buffer[index] = value; if there is a guard, only if it holds.
struct Store {
  int32_t buffer = kNoId;
  Affine index;
  NodeId value = kNoId;
  NodeId guard = kNoId;
  int32_t block = 0;
};

struct NestBuffer {
  ElementType type = ElementType::kPred;
  int64_t elements = 0;
  bool read = false, written = false;
};

/// Buffers are the kernel's parameters, in order. Every parallel loop in block 0 is a piece that runs separately, piece
/// after piece; everything else in block 0 (nodes, loops with carried results) is recomputed in each.
struct Nest {
  std::vector<NestBuffer> buffers;
  std::vector<Node> nodes;
  std::vector<Loop> loops;
  std::vector<Block> blocks;  ///< blocks[0]: the kernel's own
  std::vector<Store> stores;
};

/// The whole nest as text, numbered by its own order: equal texts are equal kernels (the key of the kernel cache).
std::string to_text(const Nest& nest);

/// Empty, or a sentence with the first broken invariant: dominance of operands, types, bounds of loop nests.
std::string check_nest(const Nest& nest);

}  // namespace lowtide::engine
