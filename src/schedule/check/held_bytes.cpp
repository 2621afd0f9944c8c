#include "schedule/check/held_bytes.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace lowtide::engine {

HeldBytes::HeldBytes(const Program& program) : program_(&program), address_of_(program.slots.size()) {
  std::iota(address_of_.begin(), address_of_.end(), 0);
}

BytePlace HeldBytes::place(int32_t slot) const {
  const Slot& home = program_->slots[address_of_[slot]];
  const Storage& storage = program_->storages[home.storage];
  const int64_t begin = home.offset + (storage.is_in_arena() ? storage.offset : 0);
  const int64_t bytes = program_->slots[slot].bytes;
  return {storage.space(home.storage), begin, begin + bytes};
}

bool HeldBytes::may_write(int32_t slot) const {
  const Slot& home = program_->slots[address_of_[slot]];
  const Storage& storage = program_->storages[home.storage];
  return storage.kind != StorageKind::kConstant && (storage.kind != StorageKind::kArgument || storage.donated);
}

const HeldBytes::Held* HeldBytes::at(const BytePlace& place) const {
  const auto it = held_.find({place.space, place.begin});
  return it != held_.end() && it->second.end == place.end ? &it->second : nullptr;
}

bool HeldBytes::holds(int32_t slot, Token token) const {
  const BytePlace bytes = place(slot);
  if (bytes.empty()) return true;
  const Held* held = at(bytes);
  return held && std::ranges::binary_search(held->tokens, token);
}

void HeldBytes::put(const BytePlace& place, Tokens tokens, std::vector<Remains> remains) {
  if (place.empty()) return;
  auto it = held_.lower_bound({place.space, place.begin});
  if (it != held_.begin()) {
    const auto before = std::prev(it);
    if (before->first.first == place.space && before->second.end > place.begin) it = before;
  }
  while (it != held_.end() && it->first.first == place.space && it->first.second < place.end) it = held_.erase(it);
  held_[{place.space, place.begin}] = {place.end, std::move(tokens), std::move(remains)};
}

std::vector<Tokens> HeldBytes::tokens_in(const std::vector<int32_t>& slots) const {
  std::vector<Tokens> tokens;
  for (const int32_t slot : slots) {
    const Held* held = at(place(slot));
    tokens.push_back(held ? held->tokens : Tokens{});
  }
  return tokens;
}

void HeldBytes::copy(const std::vector<int32_t>& from, const std::vector<int32_t>& to) {
  std::vector<Tokens> moved = tokens_in(from);
  for (size_t k = 0; k < to.size(); ++k) put(place(to[k]), std::move(moved[k]));
}

void HeldBytes::add_name(Token token, Token also) {
  if (token == also) return;
  for (auto& [place, held] : held_) {
    if (!std::ranges::binary_search(held.tokens, token)) continue;
    held.tokens.insert(std::ranges::lower_bound(held.tokens, also), also);
  }
}

void HeldBytes::rotate(const std::vector<int32_t>& from, const std::vector<int32_t>& to) {
  const std::vector<int32_t> before = address_of_;
  for (size_t k = 0; k < to.size(); ++k) {
    address_of_[to[k]] = before[from.at(k)];
  }
}

void HeldBytes::settle(const std::vector<int32_t>& slots, const std::vector<int32_t>& addresses) {
  std::vector<Tokens> moved = tokens_in(slots);
  for (const int32_t s : slots) address_of_[s] = addresses[s];
  for (size_t k = 0; k < slots.size(); ++k) put(place(slots[k]), std::move(moved[k]));
}

bool HeldBytes::keep_common(const HeldBytes& other) {
  if (address_of_ != other.address_of_) return false;
  for (auto it = held_.begin(); it != held_.end();) {
    const auto same = other.held_.find(it->first);
    Tokens both;
    if (same != other.held_.end() && same->second.end == it->second.end) {
      std::ranges::set_intersection(it->second.tokens, same->second.tokens, std::back_inserter(both));
    }
    if (both.empty()) {
      it = held_.erase(it);
    } else {
      it->second.tokens = std::move(both);
      ++it;
    }
  }
  return true;
}

}  // namespace lowtide::engine
