#include "base/minimum_cut.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

constexpr size_t kSource = 0, kSink = 1;

}  // namespace

VertexCut::VertexCut(const std::vector<int64_t>& costs) : count_(costs.size()), of_(2 + 2 * costs.size()) {
  for (size_t v = 0; v < count_; ++v) arc(in(v), out(v), costs[v]);
}

void VertexCut::arc(size_t from, size_t to, int64_t room) {
  of_[from].push_back(arcs_.size());
  arcs_.push_back({to, room});
  of_[to].push_back(arcs_.size());
  arcs_.push_back({from, 0});
}

void VertexCut::from_source(size_t vertex) { arc(kSource, in(vertex), kNever); }
void VertexCut::edge(size_t from, size_t to) { arc(out(from), in(to), kNever); }
void VertexCut::to_sink(size_t vertex, int64_t cost) { arc(out(vertex), kSink, cost); }

/// Computes distances from the source along arcs with residual capacity. Is the sink reachable?
bool VertexCut::reach() {
  distance_.assign(of_.size(), -1);
  distance_[kSource] = 0;
  std::vector<size_t> open{kSource};
  for (size_t k = 0; k < open.size(); ++k) {
    for (const size_t a : of_[open[k]]) {
      if (arcs_[a].room <= 0 || distance_[arcs_[a].to] >= 0) continue;
      distance_[arcs_[a].to] = distance_[open[k]] + 1;
      open.push_back(arcs_[a].to);
    }
  }
  return distance_[kSink] >= 0;
}

/// Pushes flow along one path to the sink on which distances grow. False: there is none left. Not recursive, since
/// paths are as long as programs are deep.
bool VertexCut::push() {
  way_.clear();
  size_t node = kSource;
  while (node != kSink) {
    size_t& k = next_[node];
    while (k < of_[node].size()) {
      const Arc& a = arcs_[of_[node][k]];
      if (a.room > 0 && distance_[a.to] == distance_[node] + 1) break;
      ++k;
    }
    if (k < of_[node].size()) {
      way_.push_back(of_[node][k]);
      node = arcs_[way_.back()].to;
    } else {
      if (way_.empty()) return false;
      node = arcs_[way_.back() ^ 1].to;
      way_.pop_back();
      ++next_[node];
    }
  }
  int64_t flow = kNever;
  for (const size_t a : way_) flow = std::min(flow, arcs_[a].room);
  for (const size_t a : way_) {
    arcs_[a].room -= flow;
    arcs_[a ^ 1].room += flow;
  }
  return true;
}

std::vector<size_t> VertexCut::cut() {
  while (reach()) {
    next_.assign(of_.size(), 0);
    while (push()) {
    }
  }
  std::vector<size_t> out_of;
  for (size_t v = 0; v < count_; ++v) {
    if (distance_[in(v)] >= 0 && distance_[out(v)] < 0) out_of.push_back(v);
  }
  return out_of;
}

}  // namespace lowtide::engine
