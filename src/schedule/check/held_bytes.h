#pragma once
/// What a program's storages hold on one way through it, byte range by byte range: the memory that check_program
/// executes on.

#include <map>
#include <utility>
#include <vector>

#include "schedule/program.h"

namespace lowtide::engine {

/// The name of a value as it was made in one execution of a step. A value may have several names, as a loop's result
/// that is also its last carry.
using Token = int32_t;
using Tokens = std::vector<Token>;  ///< sorted

/// Bytes of one address space: 0 is the arena, each argument and output is one of its own.
struct BytePlace {
  int32_t space = 0;
  int64_t begin = 0, end = 0;

  bool empty() const { return begin == end; }
  bool meets(const BytePlace& other) const { return space == other.space && begin < other.end && other.begin < end; }
  bool operator==(const BytePlace&) const = default;
};

/// What a kernel stored in an update in place.
struct Change {
  int32_t region = kNoId, output = 0;
};

class HeldBytes {
 public:
  /// A value of which updates in place have changed parts.
  struct Remains {
    Token token = kNoId;
    std::vector<Change> changes;
  };
  struct Held {
    int64_t end = 0;
    Tokens tokens;
    std::vector<Remains> remains = {};
  };

  /// `program` must outlive it. Nothing is held.
  explicit HeldBytes(const Program& program);

  /// Where the slot's bytes are now.
  BytePlace place(int32_t slot) const;
  bool may_write(int32_t slot) const;
  bool meet(int32_t slot, int32_t other) const { return place(slot).meets(place(other)); }

  /// What these bytes hold; null: several things, or nothing.
  const Held* at(const BytePlace& place) const;
  bool holds(int32_t slot, Token token) const;

  /// Whatever lay there, in part or as a whole, is gone.
  void put(const BytePlace& place, Tokens tokens, std::vector<Remains> remains = {});
  /// All at once: what lies in from[k] now lies in to[k].
  void copy(const std::vector<int32_t>& from, const std::vector<int32_t>& to);
  /// Where `token` is held, `also` is.
  void add_name(Token token, Token also);

  /// Slots take each other's addresses: to[k] that of from[k].
  void rotate(const std::vector<int32_t>& from, const std::vector<int32_t>& to);
  /// By slot: the slot whose home it has now.
  const std::vector<int32_t>& addresses() const { return address_of_; }
  /// These slots get their addresses of then, and their bytes come with them.
  void settle(const std::vector<int32_t>& slots, const std::vector<int32_t>& addresses);

  /// Keeps what both hold. False: slots have other addresses there.
  bool keep_common(const HeldBytes& other);

 private:
  std::vector<Tokens> tokens_in(const std::vector<int32_t>& slots) const;

  const Program* program_;
  std::map<std::pair<int32_t, int64_t>, Held> held_;  ///< (space, first byte) -> what lies there; disjoint
  std::vector<int32_t> address_of_;
};

}  // namespace lowtide::engine
