#pragma once
/// Why a buffer is alive: its last reader and the edge that keeps it.

#include <map>
#include <string>

#include "report/graph.h"
#include "report/report.h"

namespace lowtide::engine {

class WhyAlive {
 public:
  WhyAlive(const Graph& graph, const Account& account);

  /// "read by %fusion.91 in the backward scan", "carried by %while.3", "result 4", ...
  std::string why(const AccountBuffer& buffer, const ArgumentRow* argument = nullptr) const;
  /// The result that a buffer holds at the end; -1 if it holds none.
  int64_t result_of(const AccountBuffer& buffer) const;
  /// The first step of an instruction; -1 if it has none.
  Step first_step(const Instruction& instruction) const;

 private:
  const Graph& graph_;
  const Account& account_;
  std::vector<Step> first_step_;                              ///< by instruction id
  std::map<std::pair<int32_t, ShapeIndex>, int64_t> result_;  ///< the value of each leaf of the entry's root
};

}  // namespace lowtide::engine
