#pragma once
/// What would free a buffer. Each recogniser looks at the graph around one value and says what it is; a cure is an
/// estimate: the bytes its value has at the peak.

#include <vector>

#include "report/category.h"
#include "report/live.h"

namespace lowtide {

/// What the recognisers see of a buffer.
struct Patient {
  const Graph& graph;
  const Account& account;
  const WhyAlive& live;
  const AccountBuffer& buffer;
  Category category;
  const ArgumentRow* argument = nullptr;  ///< of an argument
};

/// The cures of a buffer, the best first; at most two.
std::vector<Cure> cures_of(const Patient& patient);

/// The value the recognisers ask about: behind renamings, loop results and fusions, the instruction that makes it.
ValueRef maker_of(const Graph& graph, const AccountBuffer& buffer);

/// Recognisers on the graph; each looks no further than a few hundred instructions.
bool is_made_of_indices(const Graph& graph, const ValueRef& value);  ///< iotas, constants, compares: a mask, positions
bool is_one_hot(const Graph& graph, const ValueRef& value);          ///< compare EQ of an iota with broadcast ids
bool is_random_bits(const Graph& graph, const ValueRef& value);      ///< threefry rounds, rng, rng-bit-generator
bool is_broadcast(const Graph& graph, const ValueRef& value);        ///< of something at least eight times smaller
/// The bytes of what a far larger value is computed from, element by element or by contraction; 0 where it isn't so.
int64_t grown_from(const Graph& graph, const ValueRef& value);
bool is_widened(const Graph& graph, const ValueRef& value);  ///< a convert to more bytes an element
bool is_copy(const Graph& graph, const ValueRef& value);
/// The value lies between a dot and a softmax: scores of attention (a second dot reads it) or logits (none does).
enum class Softmax : uint8_t { kNone, kAttention, kLoss };
Softmax softmax_around(const Graph& graph, const ValueRef& value);

/// Whether a dot reads the value, through views.
bool feeds_contraction(const Graph& graph, const ValueRef& value);
/// Whether a loop stacks what came into its body: the layers' inputs.
bool stacks_its_input(const Graph& graph, const AccountBuffer& buffer);

}  // namespace lowtide
