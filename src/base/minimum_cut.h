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
  void to_sink(size_t vertex);
  /// The vertices of the cut nearest to the source. There must be one: no vertex costs kNever on every path.
  std::vector<size_t> cut();

  static constexpr int64_t kNever = int64_t{1} << 60;

 private:
  struct Arc {
    size_t to = 0;
    int64_t room = 0;  ///< what may still flow; the arc beside it, by ^ 1, is its reverse
  };
  void arc(size_t from, size_t to, int64_t room);
  bool reach();
  int64_t push(size_t node, int64_t flow);
  static size_t in(size_t vertex) { return 2 + 2 * vertex; }
  static size_t out(size_t vertex) { return 3 + 2 * vertex; }

  size_t count_;
  std::vector<Arc> arcs_;
  std::vector<std::vector<size_t>> of_;  ///< arcs by node
  std::vector<int32_t> distance_;
  std::vector<size_t> next_;
};

}  // namespace lowtide::engine
