#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analysis/leaves.h"
#include "region/assembly.h"
#include "region/boxes.h"
#include "region/roles.h"
#include "schedule/program.h"

namespace lowtide {
namespace {

/// What bytes hold: names of values as they were made in one execution of a step. A value may have several names, as a
/// loop's result that is also its last carry.
using Token = int32_t;
using Names = std::vector<Token>;  ///< sorted

/// A value of which an update in place has changed a part.
struct Remains {
  Token token = kNoId;
  std::vector<Box> changed;
};

struct Held {
  int64_t end = 0;
  Names names;
  std::vector<Remains> remains = {};
};

/// Address spaces: 0 is the arena, each argument and output is one of its own.
struct Memory {
  std::map<std::pair<int32_t, int64_t>, Held> held;  ///< (space, first byte) -> what lies there; disjoint
  std::vector<int32_t> address_of;                   ///< slot -> the slot whose home it has now
};

using Environment = std::map<std::pair<const Instruction*, int32_t>, Token>;

/// One way in which the program may have come here.
struct State {
  Memory memory;
  Environment tokens;
};

class CheckProgram {
 public:
  CheckProgram(const Program& program, int64_t most_visits)
      : program_(program), module_(*program.module), visits_(most_visits) {}

  std::string run() {
    if (std::string fault = check_storages(); !fault.empty()) return fault;
    State start;
    for (size_t s = 0; s < program_.slots.size(); ++s) start.memory.address_of.push_back(static_cast<int32_t>(s));
    fill(start);
    std::vector<State> states{std::move(start)};
    execute(program_.steps, states);
    for (const State& state : states) finish(state);
    return fault_;
  }

 private:
  struct Place {
    int32_t space = 0;
    int64_t begin = 0, end = 0;
  };

  void fail(const std::string& sentence) {
    if (!is_over()) fault_ = sentence;
  }
  /// Nothing more is to be found out.
  bool is_over() const { return !fault_.empty() || visits_ <= 0; }

  std::string check_storages() const {
    for (const Storage& s : program_.storages) {
      const bool in_arena = s.kind == StorageKind::kConstant || s.kind == StorageKind::kTemporary;
      if (in_arena && (s.offset < 0 || s.offset + s.bytes > program_.temp_bytes))
        return "a storage lies outside of the arena";
      if (in_arena && s.offset % 64 != 0) return "a storage is not aligned to 64 bytes";
    }
    for (const Slot& s : program_.slots) {
      if (s.storage < 0 || s.storage >= static_cast<int32_t>(program_.storages.size())) return "a slot has no storage";
      const Storage& storage = program_.storages[static_cast<size_t>(s.storage)];
      if (s.offset < 0 || s.offset + s.bytes > storage.bytes) return "a slot lies outside of its storage";
    }
    return {};
  }

  Place place(const Memory& memory, int32_t slot) const {
    const Slot& home = program_.slots[static_cast<size_t>(memory.address_of[static_cast<size_t>(slot)])];
    const Storage& storage = program_.storages[static_cast<size_t>(home.storage)];
    const bool in_arena = storage.kind == StorageKind::kConstant || storage.kind == StorageKind::kTemporary;
    const int64_t begin = home.offset + (in_arena ? storage.offset : 0);
    return {in_arena ? 0 : home.storage + 1, begin, begin + program_.slots[static_cast<size_t>(slot)].bytes};
  }

  void fill(State& state) {
    for (size_t s = 0; s < program_.storages.size(); ++s) {
      const Storage& storage = program_.storages[s];
      if (storage.kind != StorageKind::kConstant || storage.bytes == 0) continue;
      const LeafRef made = resolve(storage.values.at(0));
      put(state.memory, {0, storage.offset, storage.offset + storage.bytes}, {token(state, made)});
    }
    size_t a = 0;
    for (const Instruction* p : module_.entry->parameters()) {
      if (!p) continue;
      for (int64_t l = 0; l < leaf_count(p->shape); ++l, ++a) {
        const Token t = token(state, {p, static_cast<int32_t>(l)});
        put(state.memory, place(state.memory, program_.argument_slots.at(a)), {t});
      }
    }
  }

  void put(Memory& memory, const Place& at, Names names) {
    if (at.begin == at.end) return;
    auto it = memory.held.lower_bound({at.space, at.begin});
    if (it != memory.held.begin()) {
      auto before = std::prev(it);
      if (before->first.first == at.space && before->second.end > at.begin) it = before;
    }
    while (it != memory.held.end() && it->first.first == at.space && it->first.second < at.end)
      it = memory.held.erase(it);
    memory.held[{at.space, at.begin}] = {at.end, std::move(names)};
  }

  const Held* held(const Memory& memory, const Place& at) const {
    const auto it = memory.held.find({at.space, at.begin});
    return it != memory.held.end() && it->second.end == at.end ? &it->second : nullptr;
  }

  bool holds(const State& state, int32_t slot, Token t) const {
    const Place at = place(state.memory, slot);
    if (at.begin == at.end) return true;
    const Held* h = held(state.memory, at);
    return h && std::binary_search(h->names.begin(), h->names.end(), t);
  }

  /// What the body of a loop, or every branch of a conditional, hands on as it came: where it came from. Its readers
  /// need not wait for the control instruction.
  LeafRef passed_through(LeafRef leaf) const {
    leaf = resolve(leaf);
    const Instruction& i = *leaf.instruction;
    if (i.opcode == Opcode::kWhile) {
      const LeafRef last = passed_through({i.called.at(1)->root, leaf.leaf});
      const bool same = last.instruction == parameter_of(*i.called[1]) && last.leaf == leaf.leaf;
      return same ? passed_through({i.operands[0], leaf.leaf}) : leaf;
    }
    if (i.opcode != Opcode::kConditional) return leaf;
    LeafRef all{};
    for (size_t b = 0; b < i.called.size(); ++b) {
      LeafRef of = passed_through({i.called[b]->root, leaf.leaf});
      if (of.instruction != parameter_of(*i.called[b])) return leaf;
      of = passed_through({i.operands.at(b + 1), of.leaf});
      if (b > 0 && (of.instruction != all.instruction || of.leaf != all.leaf)) return leaf;
      all = of;
    }
    return all.instruction ? all : leaf;
  }

  /// The value's name here: views and bundles have that of what they rename.
  Token token(State& state, LeafRef leaf) {
    leaf = resolve(leaf);
    const auto known = state.tokens.find({leaf.instruction, leaf.leaf});
    if (known != state.tokens.end()) return known->second;
    if (can_be_view(*leaf.instruction)) {
      return token(state, {leaf.instruction->operands[0], 0});
    }
    const LeafRef before = passed_through(leaf);
    if (before.instruction != leaf.instruction) return token(state, before);
    return state.tokens[{leaf.instruction, leaf.leaf}] = next_++;
  }

  void name(State& state, const Instruction* i, int64_t leaf, Token t) {
    state.tokens[{i, static_cast<int32_t>(leaf)}] = t;
  }

  void expect(State& state, int32_t slot, const LeafRef& leaf, const ProgramStep& reader) {
    if (leaf_shape(leaf.instruction->shape, leaf.leaf)->is_array() && !holds(state, slot, token(state, leaf))) {
      fail("%" + reader.instruction->name + " at step " + std::to_string(reader.at) + " reads %" +
           leaf.instruction->name + " where something else lies");
    }
  }

  bool may_write(const Memory& memory, int32_t slot) const {
    const Slot& home = program_.slots[static_cast<size_t>(memory.address_of[static_cast<size_t>(slot)])];
    const Storage& storage = program_.storages[static_cast<size_t>(home.storage)];
    return storage.kind != StorageKind::kConstant && (storage.kind != StorageKind::kArgument || storage.donated);
  }

  void write(State& state, int32_t slot, const LeafRef& leaf, const ProgramStep& writer, Token t) {
    name(state, leaf.instruction, leaf.leaf, t);
    if (program_.slots[static_cast<size_t>(slot)].bytes == 0) return;
    if (!may_write(state.memory, slot)) fail("%" + writer.instruction->name + " overwrites what it must not");
    put(state.memory, place(state.memory, slot), {t});
  }

  void execute(const std::vector<ProgramStep>& steps, std::vector<State>& states) {
    for (const ProgramStep& s : steps) {
      --visits_;
      std::vector<State> after;
      for (State& state : states) {
        switch (s.kind) {
          case StepKind::kKernel: kernel(s, state); break;
          case StepKind::kLibrary:
          case StepKind::kOther: whole(s, state); break;
          case StepKind::kCopy: copy(s, state); break;
          case StepKind::kRotate: rotate(s, state); break;
          case StepKind::kWhile: loop(s, state, after); continue;
          case StepKind::kConditional: branches(s, state, after); continue;
        }
        after.push_back(std::move(state));
      }
      states = std::move(after);
      merge(states);
      if (is_over()) return;
    }
  }

  void kernel(const ProgramStep& s, State& state) {
    const Region& r = program_.regions.at(static_cast<size_t>(s.region));
    for (size_t i = 0; i < r.inputs.size(); ++i) {
      if (!remains_beside(state, s.reads.at(i), r, i)) expect(state, s.reads.at(i), r.inputs[i], s);
    }
    for (size_t o = 0; o < r.updates.size(); ++o) {
      if (r.updates[o].instruction) expect(state, s.writes.at(o), r.updates[o], s);
    }
    overlaps(s, state, &r);
    if (s.assembled) assembled(s, state, r);
    if (s.rearrangement) moved_where_it_lies(s, state);
    scratch_of_kernel(s, state);
    // Kernels are functions: the same one on the same operands makes the same value again, whoever runs it.
    std::vector<Token> operands;
    for (const LeafRef& in : r.inputs) operands.push_back(token(state, in));
    for (const LeafRef& in : r.updates) operands.push_back(in.instruction ? token(state, in) : kNoId);
    std::vector<std::vector<Remains>> remains;
    for (size_t o = 0; o < r.outputs.size(); ++o) remains.push_back(remains_behind(state, s.writes.at(o), r, o));
    for (size_t o = 0; o < r.outputs.size(); ++o) {
      const auto [made, fresh] = made_.try_emplace({r.outputs[o].instruction, r.outputs[o].leaf, operands}, next_);
      if (fresh) ++next_;
      write(state, s.writes.at(o), r.outputs[o], s, made->second);
      const Place at = place(state.memory, s.writes.at(o));
      if (at.begin != at.end) state.memory.held[{at.space, at.begin}].remains = std::move(remains[o]);
    }
    for (size_t o = 0; o < r.outputs.size(); ++o) expect(state, s.writes.at(o), r.outputs[o], s);
  }

  static bool meet(const Box& a, const Box& b) {
    bool apart = a.size() != b.size();
    if (apart) return true;  // not to be compared
    for (size_t d = 0; d < a.size(); ++d) apart = apart || a[d].end <= b[d].begin || b[d].end <= a[d].begin;
    return !apart;
  }

  /// What an update leaves of the values that lay in its bytes.
  std::vector<Remains> remains_behind(const State& state, int32_t slot, const Region& r, size_t o) const {
    const Place at = place(state.memory, slot);
    const Held* h = held(state.memory, at);
    if (!h || at.begin == at.end || o >= r.updates.size() || !r.updates[o].instruction) return {};
    std::vector<Remains> out = h->remains;
    for (const Token t : h->names) out.push_back({t, {}});
    const Box changed = written_box(*r.outputs[o].instruction);
    for (Remains& rest : out) rest.changed.push_back(changed);
    return out;
  }

  /// Are the elements that the region reads still there, though others have changed?
  bool remains_beside(State& state, int32_t slot, const Region& r, size_t input) {
    const Held* h = held(state.memory, place(state.memory, slot));
    if (!h || h->remains.empty()) return false;
    const Token t = token(state, r.inputs[input]);
    return std::any_of(h->remains.begin(), h->remains.end(), [&](const Remains& rest) {
      const auto met = [&](const Box& changed) {
        const std::optional<Box>& box = box_of(r, input);
        return box && meet(changed, *box);
      };
      return rest.token == t && std::ranges::none_of(rest.changed, met);
    });
  }

  /// What the region reads of an input; nothing where no element is read. Found once, however often it is run.
  const std::optional<Box>& box_of(const Region& r, size_t input) {
    const auto [known, fresh] = boxes_.try_emplace({&r, input});
    if (fresh) known->second = box_read(r, input);
    return known->second;
  }

  /// What moves is the operand, all of it, and the result takes its bytes.
  void moved_where_it_lies(const ProgramStep& s, const State& state) {
    if (s.reads.size() != 1 || s.writes.size() != 1 || s.strips) {
      fail("%" + s.instruction->name + " moves something other than its operand");
      return;
    }
    const Place from = place(state.memory, s.reads[0]), to = place(state.memory, s.writes[0]);
    if (from.space != to.space || from.begin != to.begin || from.end != to.end)
      fail("%" + s.instruction->name + " moves an operand that lies elsewhere than its result");
    for (const ArrayMove& move : s.rearrangement->moves) {
      if (move.bytes() != to.end - to.begin || scratch_of(move) > s.rearrangement->scratch_bytes)
        fail("%" + s.instruction->name + " moves other bytes than its operand's");
    }
  }

  /// Results that are made through scratch: it is apart from all else and has the bytes.
  void scratch_of_kernel(const ProgramStep& s, State& state) {
    if (!s.strips && !s.rearrangement) return;
    const std::string& name = s.instruction->name;
    const int64_t needed = s.strips ? s.strips->scratch_bytes : s.rearrangement->scratch_bytes;
    if (s.scratch == kNoId || program_.slots[static_cast<size_t>(s.scratch)].bytes < needed) {
      fail("%" + name + " has too little scratch");
      return;
    }
    if (!may_write(state.memory, s.scratch)) fail("scratch of %" + name + " overwrites what it must not");
    for (const auto* slots : {&s.reads, &s.writes}) {
      for (const int32_t slot : *slots) {
        if (meets(state.memory, s.scratch, slot)) fail("scratch of %" + name + " lies over an operand or a result");
      }
    }
    put(state.memory, place(state.memory, s.scratch), {next_++});
  }

  void whole(const ProgramStep& s, State& state) {
    size_t read = 0;
    for (const Instruction* operand : s.instruction->operands) {
      for (int64_t l = 0; l < leaf_count(operand->shape); ++l) {
        expect(state, s.reads.at(read++), {operand, static_cast<int32_t>(l)}, s);
      }
    }
    overlaps(s, state);
    if (s.scratch != kNoId) put(state.memory, place(state.memory, s.scratch), {next_++});
    const int64_t results = leaf_count(s.instruction->shape);
    read = 0;
    for (const Instruction* operand : s.instruction->operands) {
      for (int64_t l = 0; l < leaf_count(operand->shape); ++l, ++read) {
        if (s.scratch != kNoId && meets(state.memory, s.scratch, s.reads.at(read)))
          fail("scratch of %" + s.instruction->name + " lies over an operand");
      }
    }
    for (int64_t l = 0; l < results; ++l)
      write(state, s.writes.at(static_cast<size_t>(l)), {s.instruction, static_cast<int32_t>(l)}, s, next_++);
    for (int64_t l = 0; l < results; ++l)
      expect(state, s.writes.at(static_cast<size_t>(l)), {s.instruction, static_cast<int32_t>(l)}, s);
    if (s.scratch != kNoId) {
      for (const int32_t w : s.writes) {
        if (meets(state.memory, s.scratch, w)) fail("scratch of %" + s.instruction->name + " lies over a result");
      }
    }
  }

  bool meets(const Memory& memory, int32_t a, int32_t b) const {
    const Place p = place(memory, a), q = place(memory, b);
    return p.space == q.space && p.begin < q.end && q.begin < p.end;
  }

  /// Results may lie on operands only byte for byte, or so that the operand is where the result has it.
  void overlaps(const ProgramStep& s, const State& state, const Region* region = nullptr) {
    for (size_t o = 0; o < s.writes.size(); ++o) {
      for (size_t i = 0; i < s.reads.size(); ++i) {
        if (!meets(state.memory, s.writes[o], s.reads[i])) continue;
        const Place p = place(state.memory, s.writes[o]), q = place(state.memory, s.reads[i]);
        if (p.begin == q.begin && p.end == q.end) continue;
        // Of two operands that lie in the same bytes, one may be where the result has it.
        bool stands = false;
        for (size_t k = 0; region && !stands && k < s.reads.size(); ++k) {
          const Place r = place(state.memory, s.reads[k]);
          const bool same = k == i || (r.space == q.space && r.begin == q.begin && r.end == q.end);
          stands = same && stands_at(*region, o, k, q.begin - p.begin, q.end - q.begin);
        }
        if (!stands) fail("%" + s.instruction->name + " writes over part of an operand");
      }
    }
  }

  /// Does the output have all of the input at this byte?
  bool stands_at(const Region& r, size_t o, size_t i, int64_t offset, int64_t bytes) {
    const auto [known, fresh] = parts_.try_emplace({&r, o});
    if (fresh) {
      for (const Part& part : assembly_of(r, o)) known->second.emplace(part.input, part.offset, part.bytes);
    }
    return known->second.contains({static_cast<int32_t>(i), offset, bytes});
  }

  /// Nothing runs: every byte of the results is one of an operand that lies there.
  void assembled(const ProgramStep& s, const State& state, const Region& r) {
    for (size_t o = 0; o < s.writes.size(); ++o) {
      const Place p = place(state.memory, s.writes[o]);
      std::vector<std::pair<int64_t, int64_t>> there;
      for (size_t i = 0; i < s.reads.size(); ++i) {
        const Place q = place(state.memory, s.reads[i]);
        if (q.space == p.space && stands_at(r, o, i, q.begin - p.begin, q.end - q.begin))
          there.emplace_back(q.begin, q.end);
      }
      std::sort(there.begin(), there.end());
      int64_t end = p.begin;
      for (const auto& [begin, behind] : there) end = begin == end ? behind : end;
      if (end != p.end) fail("%" + s.instruction->name + " isn't made by those who make its operands");
    }
  }

  void copy(const ProgramStep& s, State& state) {
    std::vector<Names> moved;
    for (const int32_t r : s.reads) {
      const Held* h = held(state.memory, place(state.memory, r));
      moved.push_back(h ? h->names : Names{});
    }
    for (size_t i = 0; i < s.writes.size(); ++i) {
      if (!may_write(state.memory, s.writes[i])) fail("a copy overwrites what it must not");
      if (program_.slots[static_cast<size_t>(s.reads[i])].bytes !=
          program_.slots[static_cast<size_t>(s.writes[i])].bytes)
        fail("a copy between different sizes");
      put(state.memory, place(state.memory, s.writes[i]), moved[i]);
    }
  }

  void rotate(const ProgramStep& s, State& state) {
    const std::vector<int32_t> before = state.memory.address_of;
    for (size_t i = 0; i < s.to.size(); ++i) {
      state.memory.address_of[static_cast<size_t>(s.to[i])] = before[static_cast<size_t>(s.from.at(i))];
    }
  }

  static size_t longest_rotation(const std::vector<ProgramStep>& body) {
    size_t most = 0;
    for (const ProgramStep& s : body) {
      if (s.kind == StepKind::kRotate) most = std::max(most, s.to.size());
    }
    return most;
  }

  /// A name for what a control instruction gives: the old one where it hands on what it was given.
  Token result_token(State& state, const Instruction& control, int64_t leaf) {
    const LeafRef own{&control, static_cast<int32_t>(leaf)}, before = passed_through(own);
    return before.instruction == own.instruction ? next_++ : token(state, before);
  }

  /// Leaves the loop after no trip, one, two (more where addresses rotate), each a state of its own.
  void loop(const ProgramStep& s, State& state, std::vector<State>& after) {
    const Instruction& i = *s.instruction;
    const Computation &condition = *i.called.at(0), &body = *i.called.at(1);
    const int64_t leaves = leaf_count(i.shape);
    const std::vector<int32_t> addresses = state.memory.address_of;
    std::vector<Token> carried, results;
    for (int64_t l = 0; l < leaves; ++l) {
      carried.push_back(token(state, {i.operands[0], static_cast<int32_t>(l)}));
      results.push_back(result_token(state, i, l));
    }
    const size_t trips = std::clamp<size_t>(longest_rotation(s.blocks.at(1)) + 1, 2, 6);
    std::vector<State> states{std::move(state)};
    for (size_t trip = 0; trip <= trips; ++trip) {
      enter(states, condition, carried);
      execute(s.blocks.at(0), states);
      if (is_over()) return;
      for (State& at : states) {
        expect(at, s.predicate, {condition.root, 0}, s);
        State left = at;
        for (int64_t l = 0; l < leaves; ++l) {
          add_name(left.memory, carried[static_cast<size_t>(l)], results[static_cast<size_t>(l)]);
          name(left, &i, l, results[static_cast<size_t>(l)]);
        }
        settle(left.memory, s.settle, addresses);
        after.push_back(std::move(left));
      }
      if (trip == trips || is_over()) break;
      enter(states, body, carried);
      execute(s.blocks.at(1), states);
      if (is_over()) return;
      if (states.size() != 1) return fail("the body of %" + i.name + " ends in several states");
      for (int64_t l = 0; l < leaves; ++l)
        carried[static_cast<size_t>(l)] = token(states[0], {body.root, static_cast<int32_t>(l)});
    }
  }

  static const Instruction* parameter_of(const Computation& c) {
    for (const auto& p : c.instructions()) {
      if (p->opcode == Opcode::kParameter) return p.get();
    }
    return nullptr;
  }

  void enter(std::vector<State>& states, const Computation& c, const std::vector<Token>& carried) {
    const Instruction* p = parameter_of(c);
    for (State& state : states) {
      forget(state, c);
      for (size_t l = 0; p && l < carried.size(); ++l) name(state, p, static_cast<int64_t>(l), carried[l]);
    }
  }

  /// Values of a computation are made anew each time it runs; constants stay.
  void forget(State& state, const Computation& c) {
    for (const auto& i : c.instructions()) {
      if (i->opcode == Opcode::kConstant) continue;
      auto it = state.tokens.lower_bound({i.get(), 0});
      while (it != state.tokens.end() && it->first.first == i.get()) it = state.tokens.erase(it);
    }
  }

  static void add_name(Memory& memory, Token of, Token also) {
    if (of == also) return;
    for (auto& [at, h] : memory.held) {
      if (!std::binary_search(h.names.begin(), h.names.end(), of)) continue;
      h.names.insert(std::lower_bound(h.names.begin(), h.names.end(), also), also);
    }
  }

  void settle(Memory& memory, const std::vector<int32_t>& slots, const std::vector<int32_t>& addresses) {
    std::vector<Names> moved;
    for (const int32_t s : slots) {
      const Held* h = held(memory, place(memory, s));
      moved.push_back(h ? h->names : Names{});
    }
    for (const int32_t s : slots) memory.address_of[static_cast<size_t>(s)] = addresses[static_cast<size_t>(s)];
    for (size_t i = 0; i < slots.size(); ++i) put(memory, place(memory, slots[i]), moved[i]);
  }

  void branches(const ProgramStep& s, State& state, std::vector<State>& after) {
    const Instruction& i = *s.instruction;
    expect(state, s.predicate, {i.operands[0], 0}, s);
    const int64_t leaves = leaf_count(i.shape);
    std::vector<Token> results;
    for (int64_t l = 0; l < leaves; ++l) results.push_back(result_token(state, i, l));
    for (size_t b = 0; b < i.called.size(); ++b) {
      const Computation& branch = *i.called[b];
      std::vector<State> states{state};
      std::vector<Token> passed;
      const Instruction* operand = i.operands.at(b + 1);
      for (int64_t l = 0; l < leaf_count(operand->shape); ++l)
        passed.push_back(token(states[0], {operand, static_cast<int32_t>(l)}));
      enter(states, branch, passed);
      execute(s.blocks.at(b), states);
      for (State& at : states) {
        for (int64_t l = 0; l < leaves; ++l) {
          add_name(at.memory, token(at, {branch.root, static_cast<int32_t>(l)}), results[static_cast<size_t>(l)]);
          name(at, &i, l, results[static_cast<size_t>(l)]);
        }
        after.push_back(std::move(at));
      }
    }
  }

  /// What holds whichever way the program came: states with the same addresses become one.
  static void merge(std::vector<State>& states) {
    while (states.size() > 1) {
      State other = std::move(states.back());
      states.pop_back();
      State& into = states.front();
      LT_ASSERT(into.memory.address_of == other.memory.address_of, "addresses depend on the way");
      for (auto it = into.memory.held.begin(); it != into.memory.held.end();) {
        const auto same = other.memory.held.find(it->first);
        Names both;
        if (same != other.memory.held.end() && same->second.end == it->second.end) {
          std::set_intersection(it->second.names.begin(), it->second.names.end(), same->second.names.begin(),
                                same->second.names.end(), std::back_inserter(both));
        }
        if (both.empty()) {
          it = into.memory.held.erase(it);
        } else {
          it->second.names = std::move(both);
          ++it;
        }
      }
      // A name that only one way gave can't be in the bytes of both; the other's is as good.
      into.tokens.merge(other.tokens);
    }
  }

  void finish(State state) {
    const Instruction& root = *module_.entry->root;
    std::vector<int32_t> seen;
    for (int64_t l = 0; l < leaf_count(root.shape); ++l) {
      const int32_t slot = program_.output_slots.at(static_cast<size_t>(l));
      const Slot& s = program_.slots[static_cast<size_t>(slot)];
      const Storage& storage = program_.storages[static_cast<size_t>(s.storage)];
      const bool own = storage.kind == StorageKind::kOutput && storage.number == l;
      if (!own && !(storage.kind == StorageKind::kArgument && storage.donated))
        fail("result " + std::to_string(l) + " ends in memory that isn't its own");
      if (s.bytes > 0 && std::find(seen.begin(), seen.end(), s.storage) != seen.end())
        fail("two results end in one storage");
      seen.push_back(s.storage);
      const Shape* shape = leaf_shape(root.shape, l);
      if (shape->is_array() && !holds(state, slot, token(state, {&root, static_cast<int32_t>(l)}))) {
        fail("result " + std::to_string(l) + " is not where it must be at the end");
      }
    }
  }

  const Program& program_;
  const Module& module_;
  Token next_ = 0;
  std::map<std::tuple<const Instruction*, int32_t, std::vector<Token>>, Token> made_;  ///< by kernels, and from what
  std::map<std::pair<const Region*, size_t>, std::set<std::tuple<int32_t, int64_t, int64_t>>> parts_;
  std::map<std::pair<const Region*, size_t>, std::optional<Box>> boxes_;  ///< read of inputs
  std::string fault_;
  int64_t visits_;  ///< of steps, left
};

}  // namespace

std::string check_program(const Program& program, int64_t most_visits) {
  return CheckProgram(program, most_visits).run();
}

}  // namespace lowtide
