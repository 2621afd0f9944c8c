#pragma once
/// A nest as LLVM IR with explicit lanes.
///
/// Outside of lane loops every value is a scalar. Inside, a value is a scalar if it is the same in all lanes, else a
/// vector of `width_` lanes: wide types (128 lanes of f32 are eight registers) interleave independent dependency
/// chains. 64-bit integers whose bounds fit are vectors of 32-bit integers.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "codegen/clamped.h"
#include "codegen/equal_lanes.h"
#include "codegen/grid_plan.h"
#include "codegen/kernel_plan.h"
#include "codegen/shape_free.h"
#include "codegen/tiling.h"

namespace lowtide::engine {

class Emitter {
 public:
  Emitter(llvm::Module& module, const Nest& nest, const KernelPlan& plan, bool avx512);
  void emit();  ///< the function kKernelSymbol

  /// The same nest for threads of a grid (grid.cpp); the plan vectorises nothing. On a device, a kernel for each piece;
  /// else the function kKernelSymbol, to which the thread's number is passed (GridFunction).
  void emit_grid(const GridPlan& grid, bool on_device, bool apart);

 private:
  using V = llvm::Value*;
  struct Emitted {
    V value = nullptr;
    bool lanes = false;
  };
  /// An array index: scalar + step * lane + vector[lane]; vector, of 32- or 64-bit integers, may be null.
  struct Address {
    V scalar = nullptr;
    int64_t step = 0;
    V vector = nullptr;
    bool is_uniform() const { return step == 0 && !vector; }
  };
  using LoopBody = std::function<std::vector<V>(V index, std::span<const V> carried)>;

  const Node& node(NodeId id) const { return nest_.nodes[id]; }
  const Loop& loop_of(int32_t id) const { return nest_.loops[id]; }

  // grid.cpp
  struct Place {  ///< of a thread, all i32
    V block = nullptr, blocks = nullptr, thread = nullptr;
  };
  llvm::Function* emit_device_launch(const GridPlan& grid, size_t number, bool apart);
  llvm::Function* emit_told_launch(const GridPlan& grid, size_t number);
  void emit_tiles(const PiecePlan& piece, const GridLaunch& grid, V begin, V end, const Place& place);
  void emit_shared(const GridLaunch& grid);
  void emit_values(int32_t loop);  ///< the nodes in its body
  void clear_values();

  // emitter.cpp: functions and values
  llvm::Function* emit_piece(const PiecePlan& piece, size_t number);
  void emit_items(std::span<const Item> items);
  void emit_block(int32_t block);
  void emit_node(NodeId id);
  Emitted get(NodeId id);
  V scalar(NodeId id);
  /// Adapts a computed value to the current width: repeats it for each lane of its group, or takes one lane per group.
  V in_width(V value);
  V vector(NodeId id);  ///< of the node's own type
  V narrow(NodeId id);  ///< the low 32 bits of a 64-bit integer
  V as(NodeId id, bool lanes) { return lanes ? vector(id) : scalar(id); }
  V splat(V scalar);
  V lane_numbers(llvm::Type* element);  ///< 0, 1, 2, ...
  /// Derived forms of a value that are remembered per block: a splat of this many lanes, or one of these.
  enum Made : int { kLaneIndex = -1, kGroupIndex = -2, kRunning = -3, kActive = -4, kSpreadOut = -5, kGathered = -6 };
  V remember(V key, int what, const std::function<V()>& make);
  bool fits_32_bits(NodeId id) const;
  llvm::Type* type_of(ElementType type, int32_t lanes);  ///< 0 lanes: a scalar
  llvm::Constant* constant(const Node& node);
  V integer(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  /// An extent or a coefficient of the nest: a constant, or an argument of the kernel (codegen/shape_free.h).
  V number(int64_t value) { return is_given(value) ? given_[value - kFirstGiven] : integer(value); }
  void load_given();
  V mask();  ///< the lanes that run; null: all

  // operations.cpp
  V operate(const Node& node, ElementType operand_type, std::span<const V> operands);
  V operate_on_floats(const Node& node, std::span<const V> operands);
  V operate_on_integers(const Node& node, std::span<const V> operands);
  V compare(const Node& node, ElementType operand_type, V a, V b);
  V convert(ElementType from, ElementType to, V value);
  V divide(const Node& node, V a, V b);
  bool is_narrow_operation(NodeId id) const;
  Emitted emit_operation(NodeId id);
  std::vector<V> call(const Function& function, std::span<const V> arguments, int32_t lanes);

  // memory.cpp
  Address address(const Affine& affine);
  V affine_value(NodeId id, bool* lanes);
  V pointer(int32_t buffer, V index);
  Emitted emit_load(NodeId id);
  V from_stored(ElementType type, V lanes);
  Emitted load_at(const Node& load, const Address& at, V only = nullptr);  ///< only: a mask in addition to mask()
  V load_vector(llvm::Type* type, V from, V running);  ///< running: a mask; null: all elements are read
  void prefetch(const Node& load, V first);
  void emit_store(const Store& store);
  /// By buffer of the nest: i1, are whole vectors stored past the caches? Null: they never are.
  void find_far_buffers();
  bool is_far(const Store& store) const;
  void store_far(int32_t buffer, V value, V to);
  void end_far_stores();
  V in_memory(ElementType type, V value);
  V gather(int32_t buffer, const Address& at, llvm::Type* element);
  void scatter(int32_t buffer, const Address& at, V value, V mask);
  V lane_offsets(const Address& at, bool& is_wide);
  llvm::Type* stored_type(ElementType type);
  llvm::Align alignment(ElementType type) const;  ///< of one element in memory

  // near_memory.cpp
  Emitted load_clamped(const Node& load, const ClampedIndex& index);
  std::pair<V, V> lanes_at_bounds(const ClampedIndex& index, V first);
  int32_t register_lanes(llvm::Type* element) const;  ///< how many lanes one register holds, at most width_
  V joined(const std::vector<V>& parts);
  V load_apart(const Node& load, const Address& at, llvm::Type* element);
  bool store_together(std::span<const int32_t> stores);  ///< false, and emits nothing, if they can't be

  // tables.cpp
  Emitted emit_table(NodeId id);
  V look_up(std::span<const uint64_t> rows, V index, unsigned bits);
  V by_parts(V lanes, int32_t part, const std::function<V(V)>& of_part);
  bool fits_registers(int32_t buffer, llvm::Type* element) const;
  V look_up_in(int32_t buffer, V index, llvm::Type* element);
  llvm::GlobalVariable* table_in_memory(const Node& table, unsigned bits, size_t elements);

  // loops.cpp
  NodeId common_guard(int32_t block) const;
  void emit_loop(int32_t id, V begin, V end);
  void emit_whole_loop(int32_t id, V begin, V end);
  void emit_serial_loop(int32_t id, V begin, V end);
  bool is_short_product_sum(const Loop& loop) const;
  void emit_short_sum(int32_t id);
  void emit_lane_loop(int32_t id, V begin, V end);
  // ordered_loops.cpp
  void emit_ordered_loop(int32_t id, V begin, V end);
  /// Emits with lanes from `first` on that are iterations of this loop, without a rest.
  void in_lanes(int32_t loop, int32_t width, V first, const std::function<void()>& emit);
  V end_of_steps(V begin, V end, int32_t width);          ///< of whole steps from `begin`
  void emit_rows_then_lanes(int32_t id, V begin, V end);  // rows_then_lanes.cpp
  void emit_while(int32_t id);
  void emit_while_in_lanes(int32_t id);
  /// for (index = begin; index < end; index += step) carried = body(index, carried). The last values of `carried`.
  std::vector<V> count(V begin, V end, V step, std::span<const V> initial, const LoopBody& body);
  std::vector<V> count(V begin, V end, int64_t step, std::span<const V> initial, const LoopBody& body) {
    return count(begin, end, integer(step), initial, body);
  }
  std::vector<V> merge_lanes(const Loop& loop, std::vector<V> partial);
  llvm::BasicBlock* new_block(const char* name);
  bool is_varying_carried(int32_t loop, size_t slot) const;
  void set_carried(int32_t loop, std::span<const V> values, bool results);

  // rows.cpp
  using RowElements = std::map<NodeId, std::vector<V>>;  // by load and element, for all lanes
  std::vector<NodeId> row_loads(int32_t id) const;
  void emit_row_loop(int32_t id, std::span<const NodeId> loads);
  RowElements load_rows(int32_t id, std::span<const NodeId> loads, V first, int64_t count);
  V first_lane_address(const Node& load);
  V lane_address(const Node& load, V first, int32_t lane);
  std::vector<V> load_row_block(const Node& load, V first, int32_t first_lane, int64_t count);

  // tiles.cpp
  void emit_tiled(const Tiling& tiling, V begin, V end);
  void fill_tile(NodeId load, int32_t side, V tile, V row_count);
  /// Of registers, all of whose parts of as many lanes as there are registers are transposed.
  void transpose(std::vector<V>& rows);

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  const Nest& nest_;
  const KernelPlan& plan_;
  const bool avx512_;
  bool aligned_ = false;      // buffers begin at multiples of their elements' size
  unsigned table_space_ = 0;  // the address space of tables

  llvm::Function* function_ = nullptr;
  std::vector<V> buffers_;                                             // addresses
  std::vector<V> given_;                                               // numbers that are the kernel's arguments
  std::vector<Emitted> values_;                                        // per node
  std::vector<V> index_;                                               // per loop that isn't vectorised
  std::vector<std::vector<std::pair<NodeId, NodeId>>> carried_nodes_;  // per loop and slot: (kCarried, kResult)

  int32_t width_ = 0;  // lanes; 0: outside of lane loops
  int32_t lane_loop_ = kNoId;
  int32_t serial_loop_ = kNoId;    // the innermost serial loop inside lane_loop_
  V first_index_ = nullptr;        // of lane 0
  V remaining_ = nullptr;          // i64: only this many lanes run; null: all
  V active_ = nullptr;             // vector of i32, zero in lanes that have finished; null: none has
  std::map<NodeId, V> tile_rows_;  // addresses of the current row, for loads through a tile
  std::map<NodeId, V> row_terms_;  // elements of the current term, for loads that read rows in lanes
  std::vector<bool> varying_;      // of lane_loop_
  EqualLanes equal_;               // of lane_loop_; its nodes are emitted with width_ divided by the group
  int32_t group_ = 1;              // the group while one of its nodes is emitted
  std::vector<V> far_;             ///< see find_far_buffers()
  bool has_far_stores_ = false;    ///< in this piece
  std::map<std::pair<V, std::pair<llvm::BasicBlock*, int>>, V> remembered_;
};

}  // namespace lowtide::engine
