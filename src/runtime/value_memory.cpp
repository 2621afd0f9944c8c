#include "runtime/value_memory.h"

#include <algorithm>
#include <cstring>

namespace lowtide::engine {
namespace {

void add_leaves(const Value& value, std::vector<const Literal*>& leaves) {
  if (!value->shape().is_tuple()) {
    leaves.push_back(value.get());
    return;
  }
  for (const Value& part : value->parts()) add_leaves(part, leaves);
}

}  // namespace

ValueMemory::ValueMemory(const Program& program, std::span<const Value> arguments) {
  std::vector<const Literal*> leaves;
  for (const Value& argument : arguments) add_leaves(argument, leaves);
  size_t results = 0;
  for_each_leaf(program.module->entry->root->shape, [&](const ShapeIndex&, const Shape&) { ++results; });
  bytes_.reserve(leaves.size() + results);
  for (const Literal* leaf : leaves) {
    const auto from = leaf->bytes();
    memory_.arguments.push_back(bytes_.emplace_back(from.begin(), from.end()).data());
  }
  memory_.outputs.assign(results, nullptr);
  for (const Storage& storage : program.storages) {
    if (storage.kind != StorageKind::kOutput) continue;
    bytes_.emplace_back(static_cast<size_t>(storage.bytes));
    memory_.outputs[storage.number] = bytes_.back().data();
  }
}

std::vector<Value> ValueMemory::results(const LoadedProgram& loaded) const {
  std::vector<Value> results;
  size_t leaf = 0;
  for_each_leaf(loaded.program().module->entry->root->shape, [&](const ShapeIndex&, const Shape& shape) {
    const size_t here = leaf++;
    if (!shape.is_array()) return;
    auto literal = std::make_shared<Literal>(shape);
    if (!literal->bytes().empty()) {
      std::memcpy(literal->bytes().data(), loaded.result(here), literal->bytes().size());
    }
    results.push_back(std::move(literal));
  });
  return results;
}

}  // namespace lowtide::engine
