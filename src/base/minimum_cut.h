#pragma once
/// The cheapest set of vertices that separates a source from a sink.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::engine {

class VertexCut {
 public:
  explicit VertexCut(const std::vector<int64_t>& costs);
  void from_source(size_t vertex);
  void edge(size_t from, size_t to);
  /// cost: of cutting the edge from the vertex to the sink.
  void to_sink(size_t vertex, int64_t cost = kNever);
  /// The vertices of the cut nearest to the source. There must be one: every path has a part that costs less than
  /// kNever.
  std::vector<size_t> cut();
  /// After cut(): is the vertex reachable from the source; is also its outgoing side on the source's side of the cut?
  bool is_reached(size_t vertex) const { return distance_[in(vertex)] >= 0; }
  bool is_behind(size_t vertex) const { return distance_[out(vertex)] >= 0; }

  static constexpr int64_t kNever = int64_t{1} << 60;

 private:
  struct Arc {
    size_t to = 0;
    int64_t room = 0;  ///< the residual capacity; the arc with number ^ 1 is the reverse
  };
  void arc(size_t from, size_t to, int64_t room);
  bool reach();
  bool push();
  static size_t in(size_t vertex) { return 2 + 2 * vertex; }
  static size_t out(size_t vertex) { return 3 + 2 * vertex; }

  size_t count_;
  std::vector<Arc> arcs_;
  std::vector<std::vector<size_t>> of_;  ///< arcs by node
  std::vector<int32_t> distance_;
  std::vector<size_t> next_;
  std::vector<size_t> way_;  ///< the current path's arcs from the source
};

}  // namespace lowtide::engine
