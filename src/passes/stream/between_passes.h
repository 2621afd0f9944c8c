#pragma once
/// Values that the passes of a stream leave for later ones: stored whole, or recomputed slice by slice in each pass
/// that reads them.

#include "passes/stream/cluster.h"

namespace lowtide::engine {

/// What each pass of a cluster computes and reads, given the values that are stored.
class PassUses {
 public:
  PassUses(const ValueGraph& graph, const StreamCluster& cluster);
  /// Passes that read the value without computing it, ascending.
  const std::vector<int32_t>& readers(int32_t place) const { return readers_[place]; }
  bool is_made_in(int32_t place, int32_t pass) const;
  /// Looks again at what this pass computes: other values are stored now.
  void look_again(const ValueGraph& graph, const StreamCluster& cluster, int32_t pass);
  /// The last pass in which it is read, or the one given if there is none after it.
  int32_t last_reader(int32_t place, int32_t from) const;

 private:
  std::vector<std::vector<int32_t>> readers_, makers_;  ///< passes by place
  std::vector<std::vector<int32_t>> made_;              ///< places by pass
};

/// Keeps values from one pass to later ones. At first all values are kept that would be stored without the stream.
/// Then, step by step, of the values that are live across the fullest pass the one that is cheapest to recompute for
/// its bytes is dropped, as long as that is within a price in ns per byte: the passes that read it recompute it, or the
/// first of them does, and keeps it for the others.
void keep_between_passes(const ValueGraph& graph, const std::vector<ValueState>& states, StreamCluster& cluster,
                         double ns_per_byte);

/// A price, of few digits for plan files, and StreamCluster::kept at it.
struct Keeping {
  double ns_per_byte = 0;
  std::map<int32_t, std::vector<Stay>> kept;
};

/// Prices at which ever fewer values are kept, ascending; at most `most`.
std::vector<Keeping> keeping_choices(const ValueGraph& graph, const std::vector<ValueState>& states,
                                     StreamCluster cluster, size_t most);

/// Bytes that the cluster stores whole, by pass: outputs, sums, and kept values.
std::vector<double> stored_bytes_by_pass(const ValueGraph& graph, const StreamCluster& cluster, const PassUses& uses);

}  // namespace lowtide::engine
