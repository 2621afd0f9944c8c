#include "text/bytecode/bytecode_tree.h"

#include <fmt/format.h>

#include <unordered_map>

namespace lowtide::engine {
namespace {

constexpr int kDeepest = 64;  // nesting of regions, as in MLIR text

enum Parts : uint8_t {
  kAttributes = 0x01,
  kResults = 0x02,
  kOperands = 0x04,
  kSuccessors = 0x08,
  kRegions = 0x10,
  kUseOrders = 0x20,
  kHasProperties = 0x40
};

class TreeReader {
 public:
  TreeReader(const BytecodeFile& file, BytecodeFault& fault) : file_(file), fault_(fault) {}

  BytecodeTree read() {
    ByteCursor cursor = file_.cursor(file_.operations, fault_);
    scopes_.emplace_back();
    read_block(cursor, tree_.operations, nullptr, 0);
    if (!cursor.done()) cursor.raise("found bytes behind the module");
    return std::move(tree_);
  }

 private:
  /// The visible values by their numbers in the file. Numbers in a region continue after those of the enclosing
  /// regions, and restart in regions that are isolated from above.
  struct Scope {
    std::unordered_map<uint64_t, uint32_t> values;
    uint64_t reserved = 0;  ///< numbers that belong to all open regions
    uint64_t next = 0;
  };

  uint32_t define(uint64_t type, ByteCursor& cursor, uint64_t end) {
    Scope& scope = scopes_.back();
    if (scope.next >= end) cursor.raise("found more values in a region than it says");
    if (type >= file_.types.size()) cursor.raise(fmt::format("found type {} of {}", type, file_.types.size()));
    const auto value = static_cast<uint32_t>(tree_.value_types.size());
    scope.values[scope.next++] = value;
    tree_.value_types.push_back(type);
    return value;
  }

  uint64_t attribute(ByteCursor& cursor) {
    const uint64_t number = cursor.varint();
    if (number < file_.attributes.size()) return number;
    cursor.raise(fmt::format("found attribute {} of {}", number, file_.attributes.size()));
    return 0;
  }

  /// Skips the orders in which values' uses were in memory, which are irrelevant here.
  static void skip_use_orders(ByteCursor& cursor, size_t values) {
    const size_t n = values == 1 ? 1 : cursor.count("orders");
    for (size_t i = 0; i < n && !cursor.done(); ++i) {
      if (values != 1) (void)cursor.varint();
      bool pairs = false;
      const uint64_t size = cursor.flagged(pairs);
      for (uint64_t k = 0; k < size && !cursor.done(); ++k) (void)cursor.varint();
    }
  }

  void read_operation(ByteCursor& cursor, BytecodeOperation& operation, int depth) {
    operation.place = cursor.place();
    const uint64_t name = cursor.varint();
    if (name >= file_.names.size())
      return cursor.raise(fmt::format("found operation {} of {}", name, file_.names.size()));
    operation.dialect = file_.names[name].dialect;
    operation.name = file_.names[name].name;
    const uint8_t parts = cursor.byte();
    operation.location = attribute(cursor);
    if ((parts & kAttributes) != 0) operation.attributes = attribute(cursor);
    if ((parts & kHasProperties) != 0) {
      operation.properties = cursor.varint();
      if (*operation.properties >= file_.properties.size()) return cursor.raise("found properties that don't exist");
    }
    if ((parts & kResults) != 0) {
      operation.types.resize(cursor.count("results"));
      for (uint64_t& type : operation.types) type = cursor.varint();
    }
    if ((parts & kOperands) != 0) {
      const size_t n = cursor.count("operands");
      for (size_t i = 0; i < n && !fault_.found(); ++i) operation.operands.push_back(use(cursor));
    }
    if ((parts & kSuccessors) != 0 && cursor.varint() != 0) {
      return fault_.raise(operation.place, "operations with successors are not known", Fault::kUnsupported);
    }
    operation.first_result = static_cast<uint32_t>(tree_.value_types.size());
    for (const uint64_t type : operation.types) define(type, cursor, region_end_);
    if ((parts & kUseOrders) != 0) skip_use_orders(cursor, operation.types.size());
    if ((parts & kRegions) != 0) read_regions(cursor, operation, depth);
  }

  uint32_t use(ByteCursor& cursor) {
    const uint64_t number = cursor.varint();
    const auto found = scopes_.back().values.find(number);
    if (found != scopes_.back().values.end()) return found->second;
    cursor.raise(fmt::format("found the use of value {}, which isn't defined before", number));
    return 0;
  }

  void read_regions(ByteCursor& cursor, BytecodeOperation& operation, int depth) {
    bool isolated = false;
    const uint64_t n = cursor.flagged(isolated);
    if (depth >= kDeepest) return cursor.raise("found regions nested too deeply");
    if (n > cursor.left())
      return cursor.raise(fmt::format("found {} regions where {} bytes are left", n, cursor.left()));
    const uint64_t end = region_end_;
    if (isolated) scopes_.emplace_back();
    if (isolated && file_.version >= 2) {
      const uint8_t id = cursor.byte();
      const uint64_t length = cursor.varint();
      if (id != 4) cursor.raise(fmt::format("found section {}, expected operations without alignment", id));
      const size_t place = cursor.place();
      ByteCursor inner(cursor.bytes(length), place, fault_);
      for (uint64_t i = 0; i < n && !fault_.found(); ++i)
        read_region(inner, operation.regions.emplace_back(), depth + 1);
      if (!inner.done()) inner.raise("found bytes behind a region");
    } else {
      for (uint64_t i = 0; i < n && !fault_.found(); ++i)
        read_region(cursor, operation.regions.emplace_back(), depth + 1);
    }
    if (isolated) scopes_.pop_back();
    region_end_ = end;
  }

  void read_region(ByteCursor& cursor, BytecodeRegion& region, int depth) {
    const uint64_t blocks = cursor.varint();
    if (blocks == 0) return;
    if (blocks > 1) {
      return fault_.raise(cursor.place(), "regions of several blocks are not known", Fault::kUnsupported);
    }
    const size_t values = cursor.count("values");
    Scope& scope = scopes_.back();
    const uint64_t base = scope.reserved, before = scope.next;
    scope.reserved += values;
    scope.next = base;
    region_end_ = base + values;
    read_block(cursor, region.operations, &region, depth);
    Scope& same = scopes_.back();  // looked up again: scopes of nested operations were added and removed
    for (uint64_t number = base; number < same.next; ++number) same.values.erase(number);
    same.reserved = base;
    same.next = before;
  }

  void read_block(ByteCursor& cursor, std::vector<BytecodeOperation>& operations, BytecodeRegion* region, int depth) {
    bool has_arguments = false;
    const uint64_t n = cursor.flagged(has_arguments);
    if (n > cursor.left())
      return cursor.raise(fmt::format("found {} operations where {} bytes are left", n, cursor.left()));
    if (has_arguments) {
      if (!region) return cursor.raise("found arguments of no region");
      read_arguments(cursor, *region);
    }
    const uint64_t end = region_end_;
    for (uint64_t i = 0; i < n && !fault_.found(); ++i) {
      region_end_ = end;
      read_operation(cursor, operations.emplace_back(), depth);
    }
  }

  void read_arguments(ByteCursor& cursor, BytecodeRegion& region) {
    const size_t n = cursor.count("arguments");
    for (size_t i = 0; i < n && !fault_.found(); ++i) {
      BytecodeRegion::Argument argument;
      bool located = true;
      const uint64_t type = file_.version >= 4 ? cursor.flagged(located) : cursor.varint();
      if (located) argument.location = attribute(cursor);
      argument.value = define(type, cursor, region_end_);
      region.arguments.push_back(argument);
    }
    if (file_.version >= 3 && (cursor.byte() & kUseOrders) != 0) skip_use_orders(cursor, n);
  }

  const BytecodeFile& file_;
  BytecodeFault& fault_;
  BytecodeTree tree_;
  std::vector<Scope> scopes_;
  uint64_t region_end_ = 0;  ///< end (exclusive) of the innermost region's numbers
};

}  // namespace

BytecodeTree read_bytecode_tree(const BytecodeFile& file, BytecodeFault& fault) {
  if (fault.found()) return {};
  return TreeReader(file, fault).read();
}

}  // namespace lowtide::engine
