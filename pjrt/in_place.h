#pragma once
/// Runs small programs in place over large arguments to which no other references are left when they run, such as
/// intermediates between eager operations.

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "lowtide/session.h"

namespace lowtide::pjrt {

class InPlace {
 public:
  /// Null if no argument is large enough, or if the program is so long that planning it again would take noticeable
  /// time.
  static std::unique_ptr<InPlace> make(const Session& session, const Module& module, const Executable& executable);

  /// Arguments of the size of a result.
  const std::vector<size_t>& candidates() const { return candidates_; }
  /// The program with a result that aliases this argument, compiled on first use; null if no result can.
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
