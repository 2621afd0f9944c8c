#pragma once
/// An operation as a function from index to element; regions are built from these.

#include <span>
#include <vector>

#include "ir/module.h"
#include "nest/builder.h"

namespace lowtide::engine {

/// A store of one element.
struct ElementStore {
  int32_t buffer = kNoId;
  Affine at;
  NodeId value = kNoId;
};

/// The services that a region offers to operations whose elements it lowers.
class ElementContext {
 public:
  explicit ElementContext(NestBuilder& nest) : nest(nest) {}
  virtual ~ElementContext() = default;
  /// Element `index` of a value: loaded if the value is stored, computed if it is virtual, only once per index.
  virtual NodeId element(const Instruction& value, int64_t leaf, const Index& index) = 0;
  NodeId element(const Instruction& value, const Index& index) { return element(value, 0, index); }
  /// Inlines a computation of scalars: reducers, comparators, maps. One node per leaf of its result.
  virtual std::vector<NodeId> call(const Computation& computation, std::span<const NodeId> arguments) = 0;
  /// The computation as a separate function (for Loop::combine).
  virtual std::shared_ptr<const Function> function(const Computation& computation) = 0;
  /// The buffer of an output of the region, for operations that write in place (OpRule::update); kNoId: not an output.
  virtual int32_t buffer_of(const Instruction& value, int64_t leaf) = 0;

  NestBuilder& nest;
};

}  // namespace lowtide::engine
