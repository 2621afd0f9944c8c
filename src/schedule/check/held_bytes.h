#pragma once
/// What a program's storages hold on one path through it, by byte ranges: the memory on which check_program executes.

#include <map>
#include <utility>
#include <vector>

#include "schedule/program.h"

namespace lowtide::engine {

/// The name of a value computed by one execution of a step. A value may have several names, such as a loop's result,
/// which is also its last carry.
using Token = int32_t;
using Tokens = std::vector<Token>;  ///< sorted

/// Bytes of one address space (Storage::space): each arena is one, and so is each argument and output.
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
  /// A value that was partially overwritten by updates in place.
  struct Remains {
    Token token = kNoId;
    std::vector<Change> changes;
  };
  struct Held {
    int64_t end = 0;
    Tokens tokens;
    std::vector<Remains> remains = {};
  };

  /// Empty memory; `program` must outlive it.
  explicit HeldBytes(const Program& program);

  /// Where the slot's bytes are now.
  BytePlace place(int32_t slot) const;
  bool may_write(int32_t slot) const;
  bool meet(int32_t slot, int32_t other) const { return place(slot).meets(place(other)); }

  /// What these bytes hold; null if that is nothing or several values.
  const Held* at(const BytePlace& place) const;
  bool holds(int32_t slot, Token token) const;

  /// Replaces whatever overlaps these bytes.
  void put(const BytePlace& place, Tokens tokens, std::vector<Remains> remains = {});
  /// Copies the content of from[k] to to[k], all at once.
  void copy(const std::vector<int32_t>& from, const std::vector<int32_t>& to);
  /// Adds the name `also` wherever `token` is held.
  void add_name(Token token, Token also);

  /// Slots exchange addresses: to[k] gets that of from[k].
  void rotate(const std::vector<int32_t>& from, const std::vector<int32_t>& to);
  /// By slot: the slot whose home it has now.
  const std::vector<int32_t>& addresses() const { return address_of_; }
  /// These slots get back these addresses, and their bytes move there.
  void settle(const std::vector<int32_t>& slots, const std::vector<int32_t>& addresses);

  /// Keeps what both hold. False if slots have other addresses in `other`.
  bool keep_common(const HeldBytes& other);

 private:
  std::vector<Tokens> tokens_in(const std::vector<int32_t>& slots) const;

  const Program* program_;
  std::map<std::pair<int32_t, int64_t>, Held> held_;  ///< (space, first byte) -> what is held there; disjoint
  std::vector<int32_t> address_of_;
};

}  // namespace lowtide::engine
