#pragma once
/// Small programs on large arrays that nobody has any more by the time they run, as are the ones between eager
/// operations: the result comes to lie where its argument lay.

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "lowtide/session.h"

namespace lowtide::pjrt {

class InPlace {
 public:
  /// Null where no argument is large enough, or the program so long that planning it again would show.
  static std::unique_ptr<InPlace> make(const Session& session, const Module& module, const Executable& executable);

  /// Arguments as large as a result.
  const std::vector<size_t>& candidates() const { return candidates_; }
  /// The program with a result in the memory of this one; made when it is first asked for. Null: it has none there.
  const Executable* over(size_t argument);

 private:
  InPlace(Session session, Module module) : session_(std::move(session)), module_(std::move(module)) {}

  const Session session_;
  const Module module_;
  std::vector<size_t> candidates_;
  std::mutex mutex_;
  std::map<size_t, std::optional<Executable>> made_;
};

}  // namespace lowtide::pjrt
