#include "library/transpose_in_place.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "library/lanes.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kSide = 32;                          ///< side of a block of a square, in units
constexpr int64_t kBlockBytes = 16384;                 ///< size of such a block, at most
constexpr int64_t kLine = 64;                          ///< bytes of a cache line
constexpr int64_t kColumnsBytes = int64_t{256} << 10;  ///< bytes of adjacent columns, permuted together
constexpr int64_t kRowsAtOnce = 16;
constexpr int64_t kMostShares = 8;    ///< parts of a unit that lanes share
constexpr int64_t kLeastShare = 256;  ///< bytes
constexpr int64_t kMostLanes = 8;
constexpr int64_t kMostScratch = int64_t{2} << 20, kScratchPart = 16;  ///< at most, and relative to what is moved
constexpr int64_t kRun = int64_t{64} << 10;
constexpr int64_t kPanelBytes = int64_t{256} << 10;
constexpr int64_t kLeastPanelUnit = 256;  ///< below that, units move too slowly one by one

enum class Way { kSmall, kSquare, kCycles, kPanels, kLines };

/// Splits the longer dimension into panels: each is transposed by itself, which leaves units of a panel's width, which
/// move along cycles; or in the opposite order. The remainder beyond all panels is kept in scratch meanwhile.
struct Panels {
  bool tall;                      ///< more rows than columns
  int64_t shorter, width, count;  ///< width: of a panel
  int64_t rest;                   ///< remainder of the longer dimension beyond all panels
  ArrayMove each, units;          ///< the transposes of all panels, and of their units
  explicit Panels(const ArrayMove& move) : tall(move.rows > move.columns) {
    const int64_t longer = std::max(move.rows, move.columns);
    shorter = std::min(move.rows, move.columns);
    const int64_t whole = longer * shorter * move.unit, line = std::max<int64_t>(1, kLine / move.unit);
    width = std::max<int64_t>(1, std::min(kPanelBytes, whole / 8) / (shorter * move.unit) / line * line);
    count = longer / width;
    rest = longer % width;
    const auto [rows, columns] = tall ? std::pair(width, shorter) : std::pair(shorter, width);
    each = {ArrayMove::kTranspose, count, rows, columns, move.unit};
    const auto [across, along] = tall ? std::pair(count, shorter) : std::pair(shorter, count);
    units = {ArrayMove::kTranspose, 1, across, along, width * move.unit};
  }
  bool is_some() const { return units.unit >= kLeastPanelUnit; }
  int64_t kept_bytes() const { return align_scratch(rest * shorter * each.unit); }
  int64_t scratch_bytes() const { return kept_bytes() + std::max(transpose_scratch(each), transpose_scratch(units)); }
};

Way way_of(const ArrayMove& move) {
  if (move.rows * move.columns * move.unit <= near_matrix(move)) return Way::kSmall;
  if (move.rows == move.columns) return Way::kSquare;
  if (move.unit >= kLeastUnit) return Way::kCycles;
  return Panels(move).is_some() ? Way::kPanels : Way::kLines;
}

/// Copies units whose size is known here, or (0) only at run time.
template <int64_t kUnit>
struct Units {
  int64_t bytes;
  int64_t unit() const { return kUnit > 0 ? kUnit : bytes; }
  void copy(std::byte* to, const std::byte* from) const {
    if constexpr (kUnit > 0) {
      std::memcpy(to, from, kUnit);
    } else {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    }
  }
};

template <class F>
void dispatch_unit(int64_t unit, F&& f) {
  switch (unit) {
    case 1: return f(Units<1>{1});
    case 2: return f(Units<2>{2});
    case 4: return f(Units<4>{4});
    case 8: return f(Units<8>{8});
    case 16: return f(Units<16>{16});
    default: return f(Units<0>{unit});
  }
}

/// Rows and columns of a block.
int64_t side_of_block(int64_t unit) { return std::clamp<int64_t>(kBlockBytes / (kSide * unit), 1, kSide); }

/// to[c][r] = from[r][c] by way of `room`, because lines that are far apart compete for few sets of a cache.
template <int64_t kUnit>
class Block {
 public:
  Block(Units<kUnit> units, std::byte* room, int64_t side) : units_(units), room_(room), row_(side * units.unit()) {}
  void load(const std::byte* from, int64_t line, int64_t rows, int64_t columns) const {
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(room_ + r * row_, from + r * line, static_cast<size_t>(columns * units_.unit()));
  }
  void store(std::byte* to, int64_t line, int64_t rows, int64_t columns) const {
    const int64_t u = units_.unit();
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) units_.copy(to + c * line + r * u, room_ + r * row_ + c * u);
    }
  }

 private:
  Units<kUnit> units_;
  std::byte* room_;
  int64_t row_;  ///< bytes
};

/// Lanes whose scratch is small compared to what is moved.
Lanes few_lanes(const ArrayMove& move, int64_t tasks, int64_t bytes) {
  Lanes lanes(tasks, bytes);
  const int64_t fit = std::min(kMostScratch, move.bytes() / kScratchPart) / std::max<int64_t>(1, lanes.bytes);
  lanes.count = std::max<int64_t>(1, std::min({tasks, kMostLanes, fit}));
  return lanes;
}

int64_t block_bytes(int64_t unit) { return align_scratch(side_of_block(unit) * side_of_block(unit) * unit); }

/// Lanes that transpose one matrix at a time through scratch.
Lanes small_lanes(const ArrayMove& move) {
  return few_lanes(move, move.batch, align_scratch(move.rows * move.columns * move.unit) + block_bytes(move.unit));
}

void transpose_small(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool) {
  const int64_t rows = move.rows, columns = move.columns, u = move.unit, side = side_of_block(u);
  small_lanes(move).run(pool, scratch, [&](int64_t matrix, std::byte* room) {
    std::byte* const at = array + matrix * rows * columns * u;
    std::byte* const result = room + block_bytes(u);
    dispatch_unit(u, [&](auto units) {
      const Block block(units, room, side);
      for (int64_t r = 0; r < rows; r += side) {
        for (int64_t c = 0; c < columns; c += side) {
          const int64_t height = std::min(side, rows - r), width = std::min(side, columns - c);
          block.load(at + (r * columns + c) * u, columns * u, height, width);
          block.store(result + (c * rows + r) * u, rows * u, height, width);
        }
      }
    });
    std::memcpy(at, result, static_cast<size_t>(rows * columns * u));
  });
}

/// Lanes that exchange blocks on both sides of the diagonal; each has room for two.
Lanes square_lanes(const ArrayMove& move) {
  const int64_t side = side_of_block(move.unit), blocks = (move.rows + side - 1) / side;
  return few_lanes(move, move.batch * blocks, 2 * block_bytes(move.unit));
}

void transpose_square(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool) {
  const int64_t u = move.unit, side = side_of_block(u), extent = move.rows, blocks = (extent + side - 1) / side;
  square_lanes(move).run(pool, scratch, [&](int64_t task, std::byte* room) {
    std::byte* const matrix = array + task / blocks * extent * extent * u;
    const int64_t r = task % blocks * side, rows = std::min(side, extent - r);
    dispatch_unit(u, [&](auto units) {
      const Block first(units, room, side), second(units, room + block_bytes(u), side);
      for (int64_t c = r; c < extent; c += side) {
        const int64_t columns = std::min(side, extent - c);
        std::byte *const right = matrix + (r * extent + c) * u, *const below = matrix + (c * extent + r) * u;
        first.load(right, extent * u, rows, columns);
        if (c > r) second.load(below, extent * u, columns, rows);
        first.store(below, extent * u, rows, columns);
        if (c > r) second.store(right, extent * u, columns, rows);
      }
    });
  });
}

/// Large units move along the cycles of the permutation. A lane moves its share of each unit, and marks the units it
/// has moved, one bit each.
struct Cycles {
  int64_t shares, share, bits;  ///< bytes
  explicit Cycles(const ArrayMove& move) {
    shares = std::clamp<int64_t>(move.unit / kLeastShare, 1, kMostShares);
    share = (move.unit + shares * kLine - 1) / (shares * kLine) * kLine;
    bits = align_scratch((move.rows * move.columns + 7) / 8);
  }
  Lanes lanes(const ArrayMove& move) const {
    return few_lanes(move, move.batch * shares, bits + std::min(share, move.unit));
  }
};

/// Place p of the result receives unit (p mod rows) * columns + p / rows of the operand.
template <class Place>
void follow_cycles(const ArrayMove& move, std::byte* from, int64_t bytes, std::byte* moved, std::byte* kept) {
  const auto rows = static_cast<Place>(move.rows), columns = static_cast<Place>(move.columns);
  const auto size = static_cast<size_t>(bytes), unit = static_cast<size_t>(move.unit);
  for (Place start = 0; start < rows * columns; ++start) {
    if ((moved[start / 8] & std::byte(1 << start % 8)) != std::byte{0}) continue;
    Place place = start;
    std::memcpy(kept, from + start * unit, size);
    for (;;) {
      moved[place / 8] |= std::byte(1 << place % 8);
      const Place source = place % rows * columns + place / rows;
      if (source == start) break;
      std::memcpy(from + place * unit, from + source * unit, size);
      place = source;
    }
    std::memcpy(from + place * unit, kept, size);
  }
}

void transpose_by_cycles(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool) {
  const Cycles cycles(move);
  const int64_t count = move.rows * move.columns;
  cycles.lanes(move).run(pool, scratch, [&](int64_t task, std::byte* room) {
    const int64_t begin = task % cycles.shares * cycles.share, bytes = std::min(cycles.share, move.unit - begin);
    if (bytes <= 0) return;
    std::byte* const from = array + task / cycles.shares * count * move.unit + begin;
    std::byte* const kept = room + cycles.bits;
    std::memset(room, 0, static_cast<size_t>(cycles.bits));
    if (count <= UINT32_MAX) {
      follow_cycles<uint32_t>(move, from, bytes, room, kept);
    } else {
      follow_cycles<uint64_t>(move, from, bytes, room, kept);
    }
  });
}

void transpose_by_panels(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool) {
  const Panels p(move);
  const int64_t unit = move.unit, line = p.units.unit * p.count, rest = p.rest * unit;  // bytes of a long line
  std::byte *const kept = scratch, *const room = scratch + p.kept_bytes();
  for (int64_t matrix = 0; matrix < move.batch; ++matrix) {
    std::byte* const at = array + matrix * move.rows * move.columns * unit;
    std::byte* const after = at + p.shorter * line;  // after all panels
    const auto part_of = [&](int64_t i) { return at + i * (line + rest) + line; };
    if (p.tall) {
      std::memcpy(kept, after, static_cast<size_t>(p.shorter * rest));
      transpose_in_place(p.each, at, room, pool);
      transpose_in_place(p.units, at, room, pool);
      for (int64_t i = p.shorter; i-- > 0 && rest > 0;) {
        std::memmove(at + i * (line + rest), at + i * line, static_cast<size_t>(line));
        dispatch_unit(unit, [&](auto units) {
          for (int64_t r = 0; r < p.rest; ++r) units.copy(part_of(i) + r * unit, kept + (r * p.shorter + i) * unit);
        });
      }
    } else {
      for (int64_t i = 0; i < p.shorter && rest > 0; ++i) {
        std::memcpy(kept + i * rest, part_of(i), static_cast<size_t>(rest));
        std::memmove(at + i * line, at + i * (line + rest), static_cast<size_t>(line));
      }
      transpose_in_place(p.units, at, room, pool);
      transpose_in_place(p.each, at, room, pool);
      dispatch_unit(unit, [&](auto units) {
        for (int64_t r = 0; r < p.rest; ++r) {
          for (int64_t i = 0; i < p.shorter; ++i) {
            units.copy(after + (r * p.shorter + i) * unit, kept + (i * p.rest + r) * unit);
          }
        }
      });
    }
  }
}

/// Transposes any matrix by permuting each of its rows and columns by itself (Catanzaro, Keller and Garland, A
/// Decomposition for In-place Matrix Transposition, 2014).
struct Lines {
  int64_t m, n, unit;
  int64_t a, b;   ///< m and n divided by their greatest common divisor
  int64_t width;  ///< columns permuted together
  explicit Lines(const ArrayMove& move) : m(move.rows), n(move.columns), unit(move.unit) {
    const int64_t common = std::gcd(m, n);
    a = m / common, b = n / common;
    width = std::clamp<int64_t>(kColumnsBytes / (m * unit), 1, std::max<int64_t>(1, kLine / unit));
  }
  int64_t row_tasks() const { return (m + kRowsAtOnce - 1) / kRowsAtOnce; }
  int64_t column_tasks() const { return (n + width - 1) / width; }
  int64_t room() const { return std::max(n, m * width) * unit; }
};

template <int64_t kUnit>
class LineMoves {
 public:
  LineMoves(Units<kUnit> units, const Lines& lines, std::byte* matrix) : units_(units), l_(lines), matrix_(matrix) {}

  /// Rotates column j by j / b.
  void turn(int64_t begin, int64_t end, std::byte* room) {
    load(begin, end, room);
    for (int64_t j = begin; j < end; ++j) {
      int64_t from = j / l_.b % l_.m;
      for (int64_t i = 0; i < l_.m; ++i) {
        put(i, j, begin, from, room);
        if (++from == l_.m) from = 0;
      }
    }
  }

  void permute_row(int64_t i, std::byte* room) {
    const int64_t u = units_.unit(), m = l_.m, n = l_.n, step = m % n;
    std::byte* const row = matrix_ + i * n * u;
    int64_t along = 0;  // j * m mod n
    for (int64_t group = 0; group < n; group += l_.b) {
      const int64_t shift = (i + group / l_.b) % m % n;
      for (int64_t j = group; j < group + l_.b; ++j) {
        int64_t to = along + shift;
        if (to >= n) to -= n;
        units_.copy(room + to * u, row + j * u);
        along += step;
        if (along >= n) along -= n;
      }
    }
    std::memcpy(row, room, static_cast<size_t>(n * u));
  }

  /// Row i of column j comes from row (j + i * n - i / a) mod m.
  void permute_columns(int64_t begin, int64_t end, std::byte* room) {
    load(begin, end, room);
    const int64_t m = l_.m, step = l_.n % m;
    int64_t along = 0;
    for (int64_t group = 0; group < m; group += l_.a) {
      for (int64_t i = group; i < group + l_.a; ++i) {
        int64_t from = (along + begin) % m;
        for (int64_t j = begin; j < end; ++j) {
          put(i, j, begin, from, room);
          if (++from == m) from = 0;
        }
        along += step;
        if (along >= m) along -= m;
      }
      along = along == 0 ? m - 1 : along - 1;
    }
  }

 private:
  void load(int64_t begin, int64_t end, std::byte* room) const {
    const int64_t u = units_.unit();
    for (int64_t i = 0; i < l_.m; ++i) {
      std::memcpy(room + i * l_.width * u, matrix_ + (i * l_.n + begin) * u, static_cast<size_t>((end - begin) * u));
    }
  }
  void put(int64_t i, int64_t j, int64_t begin, int64_t from, const std::byte* room) const {
    const int64_t u = units_.unit();
    units_.copy(matrix_ + (i * l_.n + j) * u, room + (from * l_.width + j - begin) * u);
  }

  Units<kUnit> units_;
  const Lines& l_;
  std::byte* matrix_;
};

void transpose_by_lines(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool) {
  const Lines lines(move);
  const auto each = [&](int64_t tasks, const auto& f) { few_lanes(move, tasks, lines.room()).run(pool, scratch, f); };
  const auto columns = [&](int64_t task) {
    return std::pair(task * lines.width, std::min(lines.n, (task + 1) * lines.width));
  };
  for (int64_t matrix = 0; matrix < move.batch; ++matrix) {
    dispatch_unit(move.unit, [&](auto units) {
      LineMoves moves(units, lines, array + matrix * move.rows * move.columns * move.unit);
      if (lines.a < lines.m) {
        each(lines.column_tasks(),
             [&](int64_t task, std::byte* room) { moves.turn(columns(task).first, columns(task).second, room); });
      }
      each(lines.row_tasks(), [&](int64_t task, std::byte* room) {
        for (int64_t i = task * kRowsAtOnce; i < std::min(lines.m, (task + 1) * kRowsAtOnce); ++i)
          moves.permute_row(i, room);
      });
      each(lines.column_tasks(), [&](int64_t task, std::byte* room) {
        moves.permute_columns(columns(task).first, columns(task).second, room);
      });
    });
  }
}

}  // namespace

int64_t transpose_scratch(const ArrayMove& move) {
  switch (way_of(move)) {
    case Way::kSmall: return small_lanes(move).scratch_bytes();
    case Way::kSquare: return square_lanes(move).scratch_bytes();
    case Way::kCycles: return Cycles(move).lanes(move).scratch_bytes();
    case Way::kPanels: return Panels(move).scratch_bytes();
    case Way::kLines: break;
  }
  const Lines lines(move);
  return few_lanes(move, std::max(lines.row_tasks(), lines.column_tasks()), lines.room()).scratch_bytes();
}

double transpose_sweeps(const ArrayMove& move) {
  switch (way_of(move)) {
    case Way::kSmall:
    case Way::kSquare: return 1;
    case Way::kCycles: return move.unit >= 4 * kLeastUnit ? 1 : 2;
    case Way::kPanels: return Panels(move).rest > 0 ? 3 : 2;
    case Way::kLines: break;
  }
  return std::gcd(move.rows, move.columns) > 1 ? 8 : 4;
}

void transpose_in_place(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool) {
  switch (way_of(move)) {
    case Way::kSmall: return transpose_small(move, array, scratch, pool);
    case Way::kSquare: return transpose_square(move, array, scratch, pool);
    case Way::kCycles: return transpose_by_cycles(move, array, scratch, pool);
    case Way::kPanels: return transpose_by_panels(move, array, scratch, pool);
    case Way::kLines: return transpose_by_lines(move, array, scratch, pool);
  }
}

void reverse_in_place(const ArrayMove& move, std::byte* array, ThreadPool& pool) {
  // Exchanges pairs of columns, several in each task.
  const int64_t pairs = move.columns / 2, some = std::max<int64_t>(1, kRun / move.unit);
  const int64_t tasks = (pairs + some - 1) / some;
  pool.run(move.batch * tasks, [&](int64_t task, int) {
    std::byte* const line = array + task / tasks * move.columns * move.unit;
    const int64_t begin = task % tasks * some, end = std::min(pairs, begin + some);
    dispatch_unit(move.unit, [&](auto units) {
      const int64_t u = units.unit();
      for (int64_t c = begin; c < end; ++c) {
        std::byte *first = line + c * u, *second = line + (move.columns - 1 - c) * u;
        if (u <= 16) {
          std::byte kept[16];
          units.copy(kept, first);
          units.copy(first, second);
          units.copy(second, kept);
        } else {
          std::swap_ranges(first, first + u, second);
        }
      }
    });
  });
}

}  // namespace lowtide::engine
