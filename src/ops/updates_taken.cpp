#include "ops/updates_taken.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace lowtide::engine {
namespace {
constexpr std::string_view kNote = "lowtide_updates_taken=\"";
}

double updates_taken(const Instruction& scatter) {
  const std::string_view all = scatter.frontend_attributes;
  const size_t at = all.find(kNote);
  if (at == std::string_view::npos) return 1;
  double share = 1;
  const char* const number = all.data() + at + kNote.size();
  const auto [end, error] = std::from_chars(number, all.data() + all.size(), share);
  return error == std::errc() && share > 0 && share <= 1 ? share : 1;
}

void take_part_of_updates(Instruction& scatter, double part) {
  const double share = updates_taken(scatter) * part;
  std::string& all = scatter.frontend_attributes;
  const std::string note = fmt::format("{}{:.6g}\"", kNote, share);
  const size_t at = all.find(kNote);
  if (at != std::string::npos) {
    all.replace(at, all.find('"', at + kNote.size()) + 1 - at, note);
  } else if (all.empty() || all == "{}") {
    all = '{' + note + '}';
  } else {
    all.insert(1, note + ',');
  }
}

bool drop_updates_taken(Instruction& scatter) {
  std::string& all = scatter.frontend_attributes;
  size_t at = all.find(kNote);
  if (at == std::string::npos) return false;
  size_t end = all.find('"', at + kNote.size()) + 1;
  if (all[end] == ',') {
    ++end;
  } else if (all[at - 1] == ',') {
    --at;
  }
  all.erase(at, end - at);
  if (all == "{}") all.clear();
  return true;
}

}  // namespace lowtide::engine
