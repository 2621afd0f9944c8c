#include "passes/windows/edges.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

RowRange common(RowRange a, RowRange b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

}  // namespace

void Edges::want(int32_t place, RowRange rows) {
  if (rows.begin < rows.end) made_[place].push_back({rows, nullptr});
}

void Edges::merge(std::vector<Made>& wanted) const {
  std::ranges::sort(wanted, {}, [](const Made& m) { return m.rows.begin; });
  std::vector<Made> merged;
  for (const Made& m : wanted) {
    if (!merged.empty() && m.rows.begin <= merged.back().rows.end) {
      merged.back().rows.end = std::max(merged.back().rows.end, m.rows.end);
    } else {
      merged.push_back(m);
    }
  }
  wanted = std::move(merged);
}

RowRange Edges::read_of(const Instruction& i, size_t operand, const RowRead& read, RowRange rows) const {
  return rows_read(read, rows, i.operand(operand).shape.dims[read.dimension]);
}

void Edges::make() {
  for (auto m = cluster_.members.rbegin(); m != cluster_.members.rend(); ++m) {
    const auto wanted = made_.find(m->first);
    if (wanted == made_.end()) continue;
    merge(wanted->second);
    const Instruction& i = graph_.at(m->first);
    for (const Made& one : wanted->second) {
      for (const RowPiece& piece : m->second.form.pieces) {
        const RowRange rows = common(one.rows, {piece.begin, piece.end});
        if (rows.begin >= rows.end) continue;
        for (size_t k = 0; k < piece.reads.size(); ++k) {
          if (piece.reads[k].dimension < 0) continue;
          const GraphLeaf array = array_behind(graph_, i.operand(k));
          if (cluster_.is_member(array.place)) want(array.place, read_of(i, k, piece.reads[k], rows));
        }
      }
    }
  }
  const auto whole_of = [&](const Instruction& reader, size_t operand) {
    return sources_.of(resolve({&reader.operand(operand), 0}));
  };
  RowSource source;
  source.whole = whole_of;
  source.rows = [&](const Instruction& reader, size_t operand, const RowRead& read, RowRange wanted) {
    const RowRange range = read_of(reader, operand, read, wanted);
    const GraphLeaf array = array_behind(graph_, reader.operand(operand));
    if (cluster_.is_member(array.place)) return rows(array.place, range);
    return writer_.slices(*whole_of(reader, operand), read.dimension, range);
  };
  for (auto& [place, all] : made_) {
    const RowMember& member = cluster_.members.at(place);
    for (Made& one : all) {
      std::vector<Instruction*> parts;
      for (const RowPiece& piece : member.form.pieces) {
        const RowRange range = common(one.rows, {piece.begin, piece.end});
        if (range.begin >= range.end) continue;
        parts.push_back(make_rows(writer_, graph_.at(place), piece, member.dimension, range, source));
      }
      one.array = writer_.concatenated(parts, member.dimension);
    }
  }
}

Instruction* Edges::rows(int32_t place, RowRange rows) {
  for (const Made& one : made_.at(place)) {
    if (rows.begin < one.rows.begin || rows.end > one.rows.end) continue;
    const int64_t d = cluster_.members.at(place).dimension;
    return writer_.slices(*one.array, d, {rows.begin - one.rows.begin, rows.end - one.rows.begin});
  }
  LT_ASSERT(false, "rows that nobody asked for");
  return nullptr;
}

}  // namespace lowtide::engine
