#pragma once
/// Rows of members computed outside of the loop: where pieces meet, and at the beginning and end.

#include "passes/windows/row_maker.h"

namespace lowtide::engine {

class Edges {
 public:
  Edges(SliceWriter& writer, SourceArrays& sources, const ValueGraph& graph, const RowCluster& cluster)
      : writer_(writer), sources_(sources), graph_(graph), cluster_(cluster) {}
  void want(int32_t place, RowRange rows);
  /// Creates all requested rows, and their operands.
  void make();
  /// The array of rows that were requested with want().
  Instruction* rows(int32_t place, RowRange rows);

 private:
  struct Made {
    RowRange rows;
    Instruction* array = nullptr;
  };
  void merge(std::vector<Made>& wanted) const;
  RowRange read_of(const Instruction& i, size_t operand, const RowRead& read, RowRange rows) const;

  SliceWriter& writer_;
  SourceArrays& sources_;
  const ValueGraph& graph_;
  const RowCluster& cluster_;
  std::map<int32_t, std::vector<Made>> made_;  ///< by place; ascending, apart from each other
};

}  // namespace lowtide::engine
