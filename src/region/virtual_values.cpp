#include "region/virtual_values.h"

#include <algorithm>
#include <limits>
#include <span>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "ops/op_rule.h"
#include "region/assembly.h"
#include "region/region_evaluations.h"

namespace lowtide::engine {
namespace {

constexpr int kRounds = 3;                ///< each starts from the states of the round before
constexpr int32_t kMostCode = 1200;       ///< code_size of a kernel, with clones; bounds compile time
constexpr int32_t kClones = 2;            ///< how often the operations below a value may be evaluated in one kernel
constexpr int32_t kLittleCode = 40;       ///< of a value generated from indices: never worth an array
constexpr size_t kMostEvaluations = 12;   ///< distinct index maps of one value, over all kernels
constexpr size_t kMostChain = 400;        ///< operations visited below a value to find its cost
constexpr double kLittleRead = 1.0 / 64;  ///< the largest array that a generated value reads, relative to its own bytes
/// Arrays up to this size are no reason to compute a reduction inside another, or random numbers twice.
constexpr int64_t kSmallBytes = 1 << 20;
constexpr double kManyUpdates = 1024;   ///< of a scatter, that are worth a step of their own
constexpr double kThin = 8;             ///< a slice is thin if at least so many like it make up the array
constexpr double kIndexPredicate = 10;  ///< the most plain operations per element
constexpr int32_t kForever = std::numeric_limits<int32_t>::max();

/// Is the instruction an in-place update: of any operand; of this one?
bool is_update(const Instruction& i) { return has_update(i) && rule_of(i.opcode).updated_operand; }
bool updates(const Instruction& i, int32_t operand) {
  if (!is_update(i)) return false;
  int64_t leaf = 0;
  bool found = false;
  for_each_leaf(i.shape, [&](const ShapeIndex&, const Shape&) {
    found = found || rule_of(i.opcode).updated_operand(i, leaf) == operand;
    ++leaf;
  });
  return found;
}

/// The place of a value's last read, its reader, and the last read by any other reader.
struct LastReaders {
  int32_t last = kNoId, reader = kNoId, other = kNoId;
  void add(int32_t place, int32_t user) {
    if (user == reader) {
      last = std::max(last, place);
    } else if (place > last) {
      other = last;
      last = place;
      reader = user;
    } else {
      other = std::max(other, place);
    }
  }
  int32_t without(int32_t user) const { return user == reader ? other : last; }
};

/// The virtual operations below a value, and their inputs.
struct Chain {
  double ns = 0;           ///< arithmetic of one element
  double input_bytes = 0;  ///< stored arrays read, each once
  double kept_bytes = 0;   ///< of these, bytes of arrays that live longer only because the value is virtual
};

class Decision {
 public:
  Decision(const ValueGraph& graph, const FormOptions& options)
      : graph_(graph),
        cost_(graph.target().cost()),
        options_(options),
        stored_byte_ns_(options.ns_per_stored_byte.value_or(cost_.stored_byte_ns())),
        states_(count(), ValueState::kAbsent),
        evaluations_(count()),
        readers_(count()),
        kernel_code_(count()),
        stored_before_(count() + 1),
        largest_read_(count()),
        largest_given_(count()),
        repeats_(count()),
        seen_(count()) {
    for (int32_t place = 0; place < graph_.size(); ++place) {
      const Instruction& i = graph_.at(place);
      roles_.push_back(graph.target().role_of(i));
      bytes_.push_back(static_cast<double>(safe_logical_bytes(i.shape)));
      ns_.push_back(roles_.back() == OpRole::kComputed ? cost_.element_ns(i) : 0);
      const bool plain = roles_.back() == OpRole::kComputed && !is_heavy(i) && !graph_.is_result(place);
      state(place) = !graph_.is_live(place) || roles_.back() == OpRole::kNone ? ValueState::kAbsent
                     : roles_.back() != OpRole::kComputed                     ? ValueState::kGiven
                     : plain                                                  ? ValueState::kVirtual
                                                                              : ValueState::kStored;
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        const auto def = static_cast<size_t>(read.def);
        const double theirs = states_[def] == ValueState::kVirtual ? largest_given_[def] : bytes_[def];
        largest_given_[place] = std::max(largest_given_[place], theirs);
      }
    }
    const Module& module = graph_.at(0).parent->module();
    keeps_arguments_ =
        graph_.at(0).parent == module.entry && module.input_output_alias.empty() && module.buffer_donors.empty();
  }

  std::vector<ValueState> run() {
    for (int round = 0; round < kRounds; ++round) {
      survey();
      std::fill(kernel_code_.begin(), kernel_code_.end(), 0);
      for (int32_t place = graph_.size(); place-- > 0;) decide(place);
    }
    for (int32_t place = 0; place < graph_.size(); ++place) make_view(place);
    return std::move(states_);
  }

 private:
  size_t count() const { return static_cast<size_t>(graph_.size()); }
  ValueState& state(int32_t place) { return states_[place]; }
  ValueState state(int32_t place) const { return states_[place]; }
  OpRole role(int32_t place) const { return roles_[place]; }
  double bytes(int32_t place) const { return bytes_[place]; }

  /// Computes live ranges and the sizes read from the current states.
  void survey() {
    for (int32_t place = graph_.size(); place-- > 0;) {
      LastReaders& readers = readers_[place];
      readers = {};
      if (graph_.is_result(place)) readers.add(kForever, kForever);
      for (const ValueGraph::Read& read : graph_.users(place)) {
        if (graph_.is_live(read.user)) readers.add(last_of(read.user), read.user);
      }
    }
    for (size_t p = 0; p < count(); ++p) {
      const bool stored = states_[p] == ValueState::kStored || states_[p] == ValueState::kGiven;
      stored_before_[p + 1] = stored_before_[p] + (stored ? bytes_[p] : 0);
      largest_read_[p] = 0;
      for (const ValueGraph::Read& read : graph_.reads(static_cast<int32_t>(p))) {
        const auto def = static_cast<size_t>(read.def);
        const double theirs = states_[def] == ValueState::kVirtual ? largest_read_[def] : bytes_[def];
        largest_read_[p] = std::max(largest_read_[p], theirs);
      }
    }
  }

  /// The place until which a reader needs its operands.
  int32_t last_of(int32_t user) const { return state(user) == ValueState::kVirtual ? readers_[user].last : user; }

  void decide(int32_t place) {
    if (role(place) != OpRole::kComputed || !graph_.is_live(place)) return;
    const Instruction& i = graph_.at(place);
    std::vector<Evaluations>& mine = evaluations_[place];
    mine.clear();
    repeats_[place] = 0;
    if (is_virtual(place, mine)) {
      state(place) = ValueState::kVirtual;
      if (!is_free(i) && elements_of(i.shape) != 1) {
        for (const Evaluations& e : mine) kernel_code_[e.kernel] += code_size(i);
      }
      return;
    }
    state(place) = i.opcode == Opcode::kConstant ? ValueState::kGiven : ValueState::kStored;
    mine.assign(1, evaluations_of_root(place, i.shape));
    kernel_code_[place] = code_size(i);
  }

  /// Fills `mine` with the evaluations that the readers need.
  bool is_virtual(int32_t place, std::vector<Evaluations>& mine) {
    const Instruction& i = graph_.at(place);
    if (graph_.is_result(place) || !has_element(i)) return false;
    for (const ValueGraph::Read& read : graph_.users(place)) {
      if (!graph_.is_live(read.user)) continue;
      if (!computes_operand(read) || !collect(read, mine)) return false;
    }
    if (asks(options_.store, i) || is_moved_to_host(i)) return false;
    if (is_link_of_updates(place) || is_part_of_what_it_reads(place)) return false;
    if (is_folded_for_scatter(place, mine)) return false;
    if (asks(options_.keep_virtual, i) || is_free(i) || is_wider_than_operand(i)) return true;
    int32_t left = kMostCode;
    for (const Evaluations& e : mine) left = std::min(left, kMostCode - kernel_code_[e.kernel]);
    if (is_piece(place) && kClones * code_below(place, kMostCode) > left) return false;
    if (may_be_generated(place)) {
      const int32_t below = code_below(place, kMostCode);
      if (below > left && (left > 0 ? below <= kMostCode || is_waist(place, left) : below > kLittleCode)) return false;
    } else if (left <= 0) {
      return false;
    }
    return is_heavy(i) ? suits_inside(place, mine) : !is_better_stored(place, mine);
  }

  bool collect(const ValueGraph::Read& read, std::vector<Evaluations>& mine) {
    const Instruction& user = graph_.at(read.user);
    const Shape& array = shape_of(read);
    const bool update = state(read.user) == ValueState::kStored && (is_update(user) || is_running_fold(user));
    for (const Evaluations& e : evaluations_[read.user]) {
      const Evaluations theirs = evaluations_of_operand(e, user, read.operand, array, update);
      add_evaluations(mine, theirs);
      if (mine.size() <= kMostEvaluations) continue;
      if (!is_free(graph_.at(read.def)) && !is_little(read.def)) return false;
      mine.pop_back();
    }
    return true;
  }

  const Shape& shape_of(const ValueGraph::Read& read) const {
    const Shape& shape = graph_.at(read.def).shape;
    return shape.is_tuple() ? *leaf_shape(shape, read.leaf) : shape;
  }

  /// Can the reader compute this operand instead of reading it?
  bool computes_operand(const ValueGraph::Read& read) const {
    const Instruction& user = graph_.at(read.user);
    if (role(read.user) != OpRole::kComputed) return false;
    if (state(read.user) == ValueState::kStored && can_be_view(user)) return false;  // a view costs nothing
    return !updates(user, state(read.user), read.operand) || has_element(user);
  }

  static bool updates(const Instruction& user, ValueState state, int32_t operand) {
    return state == ValueState::kStored && lowtide::engine::updates(user, operand);
  }

  /// Is the reader a slice so thin that it doesn't matter which kernel computes it?
  bool takes_little(int32_t user, int32_t place) const {
    const Opcode opcode = graph_.at(user).opcode;
    return (opcode == Opcode::kSlice || opcode == Opcode::kDynamicSlice) && kThin * bytes(user) <= bytes(place);
  }

  enum class Readers : uint8_t { kUpdate, kUpdateAndSlices, kOthers };

  /// Is it a small array of sums that a scatter would compute? It takes its updates one after the other, on one thread
  /// and, unless they come from elementwise operations, not in vectors.
  bool is_folded_for_scatter(int32_t place, const std::vector<Evaluations>& mine) const {
    const Instruction& i = graph_.at(place);
    const MemoryClass kind = memory_class(i.opcode);
    const bool folds = kind == MemoryClass::kReduce || kind == MemoryClass::kContract;
    if (!folds || bytes(place) > kSmallBytes || elements_of(i.shape) < kManyUpdates) return false;
    return std::ranges::any_of(mine, [&](const Evaluations& e) {
      return graph_.at(e.kernel).opcode == Opcode::kScatter && state(e.kernel) == ValueState::kStored;
    });
  }

  /// The readers of an array other than the update that overwrites it. sure: count only updates that are stored, else
  /// any.
  Readers readers_of(int32_t place, bool sure) const {
    Readers all = Readers::kUpdate;
    for (const ValueGraph::Read& read : graph_.users(place)) {
      const Instruction& user = graph_.at(read.user);
      const bool updated =
          sure ? updates(user, state(read.user), read.operand) : lowtide::engine::updates(user, read.operand);
      if (!graph_.is_live(read.user) || updated) continue;
      if (!takes_little(read.user, place)) return Readers::kOthers;
      all = Readers::kUpdateAndSlices;
    }
    return all;
  }

  /// The array that an update overwrites; none for other operations.
  static std::optional<LeafRef> updated_array(const Instruction& update) {
    const int operand = is_update(update) ? rule_of(update.opcode).updated_operand(update, 0) : kNoId;
    return operand == kNoId ? std::nullopt : std::optional(resolve({update.operands[operand], 0}));
  }

  /// Is this an update whose only reader is the next update of the same array, in a chain that begins at a stored
  /// array? Each writes its part in place, whereas one kernel for all would write the whole array again. Thin slices
  /// may be read in between if nothing else keeps the array from being overwritten.
  bool is_link_of_updates(int32_t place) const {
    if (2 * bytes(place) * cost_.byte_ns() < cost_.kernel_start_ns()) return false;
    Readers readers = readers_of(place, true);
    const bool sliced = readers == Readers::kUpdateAndSlices;
    for (int32_t link = place; readers != Readers::kOthers;) {
      const std::optional<LeafRef> base = updated_array(graph_.at(link));
      if (!base) return false;
      link = graph_.place_of(*base->instruction);
      if (sliced) readers = readers_of(link, false);
      if (role(link) != OpRole::kComputed) return readers != Readers::kOthers;
      if (!has_update(graph_.at(link))) return readers != Readers::kOthers && state(link) == ValueState::kStored;
    }
    return false;
  }

  /// Is this a thin part of an array that is computed from other elements of the same array, and then written into it?
  /// A kernel that reads some elements while it writes others would have to write the whole array again; if the part is
  /// stored, the array is updated in place.
  bool is_part_of_what_it_reads(int32_t place) const {
    for (const ValueGraph::Read& read : graph_.users(place)) {
      const Instruction& user = graph_.at(read.user);
      if (state(read.user) != ValueState::kStored || !is_update(user) || kThin * bytes(place) > bytes(read.user))
        continue;
      const int operand = rule_of(user.opcode).updated_operand(user, 0);
      if (operand == kNoId || operand == read.operand) continue;
      if (overwrites_what_it_reads(place, user, resolve({user.operands[operand], 0}))) return true;
    }
    return false;
  }

  /// Does the value read elements that this update of `array` doesn't write at their place? Or, if the array is the
  /// last of a chain of updates, any that it had before these?
  bool overwrites_what_it_reads(int32_t place, const Instruction& update, LeafRef array) const {
    const Instruction* by = &update;
    for (size_t links = 0; links < kMostChain; ++links) {
      const int32_t at = graph_.place_of(*array.instruction);
      if (role(at) != OpRole::kComputed) return reads_elsewhere(place, array, by);
      const std::optional<LeafRef> before = updated_array(*array.instruction);
      if (!before || state(at) != ValueState::kStored) return false;
      array = *before;
      by = nullptr;
    }
    return false;
  }

  /// Does a value, through virtual values, read other elements of the array than those that the update writes? Without
  /// an update, does it read any?
  bool reads_elsewhere(int32_t place, const LeafRef& array, const Instruction* update) const {
    struct Step {
      int32_t user;
      bool moved;  ///< elements of what it makes come to lie at other places of the box
    };
    std::vector<Step> open{{place, false}};
    for (size_t looked = 0; !open.empty() && looked < kMostChain; ++looked) {
      const auto [user, moved] = open.back();
      open.pop_back();
      const Instruction& i = graph_.at(user);
      for (const ValueGraph::Read& read : graph_.reads(user)) {
        const bool is_array = &graph_.at(read.def) == array.instruction && read.leaf == array.leaf;
        if (is_array && read.operand == 0 && (moved || update == nullptr || !takes_place_of(i, *update))) return true;
        const bool picks = i.opcode == Opcode::kGather && read.operand == 0;
        if (state(read.def) == ValueState::kVirtual || picks) open.push_back({read.def, moved || picks});
      }
    }
    return false;
  }

  /// Does a reader read exactly the elements that the update writes, element by element? Also true if both boxes are
  /// constant: these are compared when the kernel is checked.
  static bool takes_place_of(const Instruction& reader, const Instruction& update) {
    const bool slices = reader.opcode == Opcode::kDynamicSlice, slices_known = reader.opcode == Opcode::kSlice;
    if (!slices && !slices_known) return reader.opcode != Opcode::kGather;
    if (update.opcode != Opcode::kDynamicUpdateSlice) return false;
    const std::span read(reader.operands.begin() + 1, reader.operands.end());
    const std::span written(update.operands.begin() + 2, update.operands.end());
    const auto is_constant = [](const Instruction* start) { return start->opcode == Opcode::kConstant; };
    if (std::ranges::all_of(read, is_constant) && std::ranges::all_of(written, is_constant)) return true;
    return slices && reader.shape.dims == update.operand(1).shape.dims && std::ranges::equal(read, written);
  }

  /// A value with hardly any arithmetic that reads at most a scalar.
  bool is_free(const Instruction& i) const {
    if (i.opcode == Opcode::kConstant || i.opcode == Opcode::kIota) return true;
    return i.opcode == Opcode::kBroadcast && element_count(i.operand(0).shape) <= 1;
  }

  /// A copy to host memory is made to free device memory.
  static bool is_moved_to_host(const Instruction& i) { return i.opcode == Opcode::kCopy && is_in_host(i.shape); }

  /// Does it convert to a wider type? If one of the two is stored, it should be the smaller operand.
  static bool is_wider_than_operand(const Instruction& i) {
    return i.opcode == Opcode::kConvert && stored_bytes(i.shape.type) > stored_bytes(i.operand(0).shape.type);
  }

  /// May a reduction, dot, ... be computed inside another kernel? If that evaluates it once per element, and has
  /// equally many elements or would otherwise have to store many bytes.
  bool suits_inside(int32_t place, const std::vector<Evaluations>& mine) const {
    const Instruction& i = graph_.at(place);
    if (!i.shape.is_array() || mine.size() != 1) return false;
    const double elements = elements_of(i.shape);
    if (mine[0].count > elements) return false;
    // A running fold computes each result from the previous one; inside, each would be folded from the start.
    if (is_running_fold(i) && mine[0].count * terms_of(i) > elements) return false;
    return elements_of(graph_.at(mine[0].kernel).shape) == elements || bytes(place) > kSmallBytes;
  }

  bool is_better_stored(int32_t place, const std::vector<Evaluations>& mine) {
    const Instruction& i = graph_.at(place);
    const double elements = std::max(1.0, elements_of(i.shape));
    double evaluated = 0, kernels = 0;
    for (size_t k = 0; k < mine.size(); ++k) {
      evaluated += mine[k].count;
      bool first = true;
      for (size_t j = 0; j < k; ++j) first &= mine[j].kernel != mine[k].kernel;
      kernels += first;
    }
    const int32_t last = readers_[place].last;
    const double between = last == kForever ? 0 : stored_before_[last] - stored_before_[place];
    const bool repeated = evaluated > elements * 1.001;
    if (!repeated && between <= bytes(place)) return false;
    const bool generated = is_generated(place);
    repeats_[place] = generated ? evaluated / elements : 0;
    if (generated && serves_repeated(place)) return false;
    const Chain chain = chain_of(place, last);
    if (chain.input_bytes == 0 && chain.ns <= cost_.lookup_ns()) return false;
    if (is_index_predicate(i, chain)) return false;
    const double kept = between > bytes(place) ? chain.kept_bytes : 0;
    const double virtual_ns = evaluated * chain.ns + kernels * chain.input_bytes * cost_.byte_ns();
    const double price = generated && bytes(place) > kSmallBytes ? std::max(cost_.generated_byte_ns(), stored_byte_ns_)
                                                                 : stored_byte_ns_;
    const double stored_ns =
        elements * chain.ns + (chain.input_bytes + bytes(place) * (1 + kernels)) * cost_.byte_ns() +
        evaluated * cost_.cached_read_ns() + cost_.kernel_start_ns() + (bytes(place) - kept) * price;
    return stored_ns < virtual_ns;
  }

  /// Is it computed from indices, scalars and small arrays only?
  bool is_generated(int32_t place) const { return largest_read_[place] <= kLittleRead * bytes(place); }

  /// Would it be generated if everything possible were virtual, and is it large enough to matter?
  bool may_be_generated(int32_t place) const {
    return bytes(place) > kSmallBytes && largest_given_[place] <= kLittleRead * bytes(place);
  }

  /// If it is stored, is it computed at its place in a concatenation, in no memory of its own?
  bool is_piece(int32_t place) const {
    int32_t readers = 0;
    for (const ValueGraph::Read& read : graph_.users(place)) {
      if (!graph_.is_live(read.user)) continue;
      if (state(read.user) != ValueState::kStored || !joins_runs(graph_.at(read.user))) return false;
      ++readers;
    }
    return readers == 1;
  }

  /// The code size of a value and the virtual values below it; counting stops above `most`.
  int32_t code_below(int32_t place, int32_t most) {
    ++stamp_;
    int32_t code = 0;
    std::vector<int32_t> open{place};
    while (!open.empty() && code <= most) {
      const int32_t user = open.back();
      open.pop_back();
      const Instruction& i = graph_.at(user);
      if (!is_free(i) && elements_of(i.shape) != 1) code += code_size(i);
      for (const ValueGraph::Read& read : graph_.reads(user)) {
        int32_t& seen = seen_[read.def];
        if (seen == stamp_ || state(read.def) != ValueState::kVirtual) continue;
        seen = stamp_;
        open.push_back(read.def);
      }
    }
    return std::min(code, most + 1);
  }

  /// Is it a large array computed by few operations on indices and scalars?
  bool is_little(int32_t place) { return may_be_generated(place) && code_below(place, kLittleCode) <= kLittleCode; }

  /// Do two or more operands of a generated value exceed the code that is left in its readers' kernels? Then store this
  /// value: it is one array, whereas cutting the kernel somewhere below would store several (a sum of many random
  /// arrays is cut at one of its terms, and continues in place over it). A value that exceeds the code left, but fits
  /// into a kernel of its own, is stored too.
  bool is_waist(int32_t place, int32_t left) {
    int32_t large = 0;
    const auto& reads = graph_.reads(place);
    for (size_t r = 0; r < reads.size(); ++r) {
      bool first = true;
      for (size_t q = 0; q < r; ++q) first &= reads[q].def != reads[r].def;
      if (!first || role(reads[r].def) != OpRole::kComputed) continue;
      // Values stored in the round before may be virtual in this one.
      large += state(reads[r].def) == ValueState::kStored || code_below(reads[r].def, left) > left;
    }
    return large > 1;
  }

  /// Is a generated value read only by virtual values that are recomputed at least as often? Their recomputation, this
  /// value included, was already compared with storing them; storing this one too would only seem cheaper, since the
  /// rest of the chain is recomputed anyway.
  bool serves_repeated(int32_t place) const {
    const double mine = repeats_[place];
    return std::ranges::all_of(graph_.users(place), [&](const ValueGraph::Read& read) {
      return !graph_.is_live(read.user) ||
             (state(read.user) == ValueState::kVirtual && repeats_[read.user] >= mine * 0.999);
    });
  }

  /// Is it a mask that a few comparisons of indices compute? Recomputing it slows no reader down.
  bool is_index_predicate(const Instruction& i, const Chain& chain) const {
    return i.shape.type == ElementType::kPred && chain.ns <= kIndexPredicate * cost_.plain_ns() &&
           chain.input_bytes * kThin <= elements_of(i.shape);
  }

  /// The cost of a value and the virtual operations below it, and the bytes of their inputs if it is read until `last`.
  Chain chain_of(int32_t place, int32_t last) {
    Chain chain;
    ++stamp_;
    const double elements = std::max(1.0, elements_of(graph_.at(place).shape));
    std::vector<int32_t> open{place};
    size_t looked = 0;
    while (!open.empty()) {
      const int32_t user = open.back();
      open.pop_back();
      chain.ns += ns_[user];
      for (const ValueGraph::Read& read : graph_.reads(user)) {
        int32_t& seen = seen_[read.def];
        if (seen == stamp_) continue;
        seen = stamp_;
        if (state(read.def) != ValueState::kVirtual || ++looked > kMostChain) {
          const Shape& array = shape_of(read);
          const double bytes = static_cast<double>(safe_logical_bytes(array));
          chain.input_bytes += std::min(bytes, elements * stored_bytes(array.type));
          const bool stays = keeps_arguments_ && graph_.at(read.def).opcode == Opcode::kParameter;
          if (!stays && readers_[read.def].without(user) < last) {
            chain.kept_bytes += bytes;
          }
        } else {
          open.push_back(read.def);
        }
      }
    }
    return chain;
  }

  void make_view(int32_t place) {
    if (state(place) != ValueState::kStored && state(place) != ValueState::kVirtual) return;
    if (!can_be_view(graph_.at(place)) || graph_.reads(place).size() != 1) return;
    const ValueState operand = state(graph_.reads(place)[0].def);
    if (operand == ValueState::kVirtual || operand == ValueState::kAbsent) return;
    state(place) = ValueState::kView;
  }

  const ValueGraph& graph_;
  const Cost& cost_;
  const FormOptions& options_;
  const double stored_byte_ns_;
  bool keeps_arguments_ = false;  ///< arguments stay live whatever reads them
  // All indexed by place.
  std::vector<OpRole> roles_;
  std::vector<double> bytes_, ns_;  ///< of the whole result; of one element
  std::vector<ValueState> states_;
  std::vector<std::vector<Evaluations>> evaluations_;
  std::vector<LastReaders> readers_;
  std::vector<int32_t> kernel_code_;
  std::vector<double> stored_before_;  ///< bytes of all stored values before this place
  std::vector<double> largest_read_;   ///< bytes of the largest stored array read to compute it
  std::vector<double> largest_given_;  ///< the same if everything possible were virtual
  std::vector<double> repeats_;        ///< of generated values: evaluations per element; else 0
  std::vector<int32_t> seen_;
  int32_t stamp_ = 0;
};

}  // namespace

bool asks(const std::vector<bool>& list, const Instruction& i) {
  return static_cast<size_t>(i.id) < list.size() && list[i.id];
}

int32_t base_of(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t place) {
  while (states[place] == ValueState::kView) place = graph.reads(place)[0].def;
  return place;
}

std::vector<ValueState> decide_values(const ValueGraph& graph, const FormOptions& options) {
  return graph.size() ? Decision(graph, options).run() : std::vector<ValueState>();
}

bool updates_operand(const Instruction& i, const std::vector<ValueState>& states, const ValueGraph& graph,
                     int32_t operand) {
  if (!updates(i, operand)) return false;
  const LeafRef updated = resolve({i.operands[operand], 0});
  return states[graph.place_of(*updated.instruction)] != ValueState::kVirtual;
}

}  // namespace lowtide::engine
