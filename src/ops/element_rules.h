#pragma once
/// Elements and updates of operations whose definition and element are in different files.

#include "ops/op_rule.h"

namespace lowtide::engine {

void element_reduce(ElementContext&, const Instruction&, const Index&, std::span<NodeId>);
bool has_element_reduce(const Instruction&);

void element_reduce_window(ElementContext&, const Instruction&, const Index&, std::span<NodeId>);
bool has_element_reduce_window(const Instruction&);
/// Running folds (cumulative sums): one loop along the line instead of one per element.
void update_reduce_window(ElementContext&, const Instruction&);
bool has_update_reduce_window(const Instruction&);

void element_select_and_scatter(ElementContext&, const Instruction&, const Index&, std::span<NodeId>);
void update_select_and_scatter(ElementContext&, const Instruction&);
bool has_element_select_and_scatter(const Instruction&);

void element_dot(ElementContext&, const Instruction&, const Index&, std::span<NodeId>);
bool has_element_dot(const Instruction&);

void element_ragged_dot(ElementContext&, const Instruction&, const Index&, std::span<NodeId>);
bool has_element_ragged_dot(const Instruction&);

void element_convolution(ElementContext&, const Instruction&, const Index&, std::span<NodeId>);
bool has_element_convolution(const Instruction&);

void element_gather(ElementContext&, const Instruction&, const Index&, std::span<NodeId>);

void update_scatter(ElementContext&, const Instruction&);
bool has_update_scatter(const Instruction&);
int updated_operand_of_scatter(const Instruction&, int64_t leaf);

void element_dynamic_update_slice(ElementContext&, const Instruction&, const Index&, std::span<NodeId>);
const Dims& stored_box_of_dynamic_update_slice(const Instruction&);
ElementStore store_dynamic_update_slice(ElementContext&, const Instruction&, const Index&);
bool has_update_dynamic_update_slice(const Instruction&);
int updated_operand_of_dynamic_update_slice(const Instruction&, int64_t leaf);

void element_rng_bit_generator(ElementContext&, const Instruction&, int64_t leaf, const Index&, std::span<NodeId>);
bool has_element_rng_bit_generator(const Instruction&);

void element_while(ElementContext&, const Instruction&, int64_t leaf, const Index&, std::span<NodeId>);
bool has_element_while(const Instruction&);

}  // namespace lowtide::engine
