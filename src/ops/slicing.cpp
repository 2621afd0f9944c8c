#include "ops/slicing.h"

#include "ops/rows.h"

namespace lowtide::engine {

void keep_attributes(const Instruction&, int64_t, int64_t, Attributes&) {}

void keep_row_attributes(const Instruction&, const RowPiece&, int64_t, RowRange, bool, Attributes&) {}

bool never_folds(const Instruction&, size_t, int64_t) { return false; }

std::optional<Positions> no_positions(const Instruction&, int64_t) { return std::nullopt; }

std::optional<std::vector<RowPiece>> rows_in_step(const Instruction&, int64_t) { return std::vector<RowPiece>(); }

}  // namespace lowtide::engine
