#include "schedule/check/check_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/leaves.h"
#include "analysis/partitioning.h"
#include "analysis/trip_count.h"
#include "schedule/check/form.h"
#include "schedule/check/held_bytes.h"
#include "schedule/check/kernel_proofs.h"
#include "schedule/check/value_names.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {
namespace {

/// Numbers the arrays of a module's results, those of one instruction in sequence.
class ArrayNumbers {
 public:
  explicit ArrayNumbers(const Module& module) : first_(static_cast<size_t>(module.id_limit()), kNoId) {
    for (const auto& c : module.computations()) {
      for (const auto& i : c->instructions()) {
        first_[i->id] = count_;
        count_ += static_cast<int32_t>(leaf_count(i->shape));
      }
    }
  }
  size_t count() const { return static_cast<size_t>(count_); }
  size_t of(const Instruction& i) const { return static_cast<size_t>(first_[i.id]); }
  size_t of(LeafRef array) const { return of(*array.instruction) + static_cast<size_t>(array.leaf); }

 private:
  std::vector<int32_t> first_;  ///< by id of the instruction
  int32_t count_ = 0;
};

/// The state after one possible execution path.
struct State {
  HeldBytes memory;
  std::vector<Token> tokens;  ///< by number of the array; kNoId: it has no name yet
};

/// Executes the program with names in place of values: a step must find its operands' names where it reads.
class CheckProgram {
 public:
  CheckProgram(const Program& program, const Target& target, int64_t most_visits, const NestOf& nest_of)
      : program_(program),
        target_(target),
        module_(*program.module),
        of_several_devices_(stated_parts(module_).has_value()),
        numbers_(module_),
        proofs_(program, nest_of),
        visits_(most_visits) {}

  std::string run() {
    if (std::string fault = form_fault(program_); !fault.empty()) return fault;
    if (std::string fault = memory_fault(program_); !fault.empty()) return fault;
    State start{HeldBytes(program_), std::vector<Token>(numbers_.count(), kNoId)};
    if (std::string fault = kernel_fault(program_.steps, start.memory); !fault.empty()) return fault;
    find_generated();
    fill(start);
    std::vector<State> states{std::move(start)};
    execute(program_.steps, states);
    for (const State& state : states) finish(state);
    return fault_;
  }

 private:
  void fail(const std::string& sentence) {
    if (!is_over()) fault_ = sentence;
  }
  /// Is a fault found, or the budget used up?
  bool is_over() const { return !fault_.empty() || visits_ <= 0; }

  /// A fault in any kernel, even one that execution doesn't reach, with the addresses that slots have at first.
  std::string kernel_fault(const std::vector<ProgramStep>& steps, const HeldBytes& memory) {
    for (const ProgramStep& s : steps) {
      std::string fault = s.kind == StepKind::kKernel ? kernel_fault(s, memory) : std::string();
      for (size_t b = 0; b < s.blocks.size() && fault.empty(); ++b) fault = kernel_fault(s.blocks[b], memory);
      if (!fault.empty()) return fault;
    }
    return {};
  }

  std::string kernel_fault(const ProgramStep& s, const HeldBytes& memory) {
    std::vector<BytePlace> places;
    for (const auto* slots : {&s.reads, &s.writes}) {
      for (const int32_t slot : *slots) places.push_back(memory.place(slot));
    }
    const std::string& fault = proofs_.fault_of(s, places);
    return fault.empty() ? fault : "%" + s.instruction->name + " " + fault;
  }

  void fill(State& state) {
    for (size_t s = 0; s < program_.storages.size(); ++s) {
      const Storage& storage = program_.storages[s];
      if (storage.kind != StorageKind::kConstant || storage.bytes == 0) continue;
      const LeafRef made = behind_bundles(storage.values[0]);
      state.memory.put({storage.space(static_cast<int32_t>(s)), storage.offset, storage.offset + storage.bytes},
                       {token(state, made)});
    }
    size_t a = 0;
    for (const Instruction* p : module_.entry->parameters()) {
      if (!p) continue;
      for (int64_t l = 0; l < leaf_count(p->shape); ++l, ++a) {
        const Token t = token(state, {p, static_cast<int32_t>(l)});
        state.memory.put(state.memory.place(program_.argument_slots.at(a)), {t});
      }
    }
  }

  /// The value's name here; views and bundles have the name of the value that they alias.
  Token token(State& state, LeafRef leaf) {
    leaf = behind_bundles(leaf);
    Token& own = state.tokens[numbers_.of(leaf)];
    if (own != kNoId) return own;
    if (has_bytes_of_operand(*leaf.instruction)) return token(state, {leaf.instruction->operands[0], 0});
    const LeafRef before = passed_through(leaf);
    if (before.instruction != leaf.instruction) return token(state, before);
    // A branch may be given a value that is computed only where it is stored.
    if (generated_.contains({leaf.instruction, leaf.leaf})) return own = made_of(leaf, {});
    return own = next_++;
  }

  /// Kernels are functions: the same kernel on the same operands computes the same value, at any step.
  Token made_of(const LeafRef& output, const std::vector<Token>& operands) {
    const auto [made, fresh] = made_.try_emplace({output.instruction, output.leaf, operands}, next_);
    if (fresh) ++next_;
    return made->second;
  }

  /// Does the kernel write every element of its results?
  static bool updates_nothing(const Region& region) {
    return std::ranges::none_of(region.updates, [](const LeafRef& over) { return over.instruction != nullptr; });
  }

  void find_generated() {
    for (const Region& region : program_.regions) {
      if (!region.inputs.empty() || !updates_nothing(region)) continue;
      for (const LeafRef& output : region.outputs) generated_.emplace(output.instruction, output.leaf);
    }
  }

  void name(State& state, const Instruction* i, int64_t leaf, Token t) {
    state.tokens[numbers_.of({i, static_cast<int32_t>(leaf)})] = t;
  }

  /// Has the slot the value's size? Not checked before partitioning, when slots have the size of one device's part.
  void expect_size(int32_t slot, const LeafRef& leaf) {
    const Shape* shape = leaf_shape(leaf.instruction->shape, leaf.leaf);
    if (of_several_devices_ || !shape || !shape->is_array()) return;
    if (program_.slots[slot].bytes != logical_bytes(*shape))
      fail("%" + leaf.instruction->name + " has a slot of another size");
  }

  void expect(State& state, int32_t slot, const LeafRef& leaf, const ProgramStep& reader) {
    expect_size(slot, leaf);
    if (leaf_shape(leaf.instruction->shape, leaf.leaf)->is_array() && !state.memory.holds(slot, token(state, leaf))) {
      fail("%" + reader.instruction->name + " at step " + std::to_string(reader.at) + " reads %" +
           leaf.instruction->name + " where something else lies");
    }
  }

  void write(State& state, int32_t slot, const LeafRef& leaf, const ProgramStep& writer, Token t,
             std::vector<HeldBytes::Remains> remains = {}) {
    name(state, leaf.instruction, leaf.leaf, t);
    expect_size(slot, leaf);
    if (program_.slots[slot].bytes == 0) return;
    if (!state.memory.may_write(slot)) fail("%" + writer.instruction->name + " overwrites what it must not");
    state.memory.put(state.memory.place(slot), {t}, std::move(remains));
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
          case StepKind::kRotate: state.memory.rotate(s.from, s.to); break;
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
      if (!remains_beside(state, s.reads.at(i), s, i)) expect(state, s.reads.at(i), r.inputs[i], s);
    }
    for (size_t o = 0; o < r.updates.size(); ++o) {
      if (r.updates[o].instruction) expect(state, s.writes.at(o), r.updates[o], s);
    }
    if (const std::string fault = kernel_fault(s, state.memory); !fault.empty()) fail(fault);
    scratch_of_kernel(s, state);
    std::vector<Token> operands;
    for (const LeafRef& in : r.inputs) operands.push_back(token(state, in));
    if (!updates_nothing(r)) {
      for (const LeafRef& in : r.updates) operands.push_back(in.instruction ? token(state, in) : kNoId);
    }
    std::vector<std::vector<HeldBytes::Remains>> remains;
    for (size_t o = 0; o < r.outputs.size(); ++o) remains.push_back(remains_behind(state, s.writes.at(o), s.region, o));
    for (size_t o = 0; o < r.outputs.size(); ++o) {
      write(state, s.writes.at(o), r.outputs[o], s, made_of(r.outputs[o], operands), std::move(remains[o]));
    }
    for (size_t o = 0; o < r.outputs.size(); ++o) expect(state, s.writes.at(o), r.outputs[o], s);
  }

  /// What an update in place leaves of the values in its bytes.
  std::vector<HeldBytes::Remains> remains_behind(const State& state, int32_t slot, int32_t region, size_t o) const {
    const Region& r = program_.regions[region];
    const BytePlace at = state.memory.place(slot);
    const HeldBytes::Held* h = state.memory.at(at);
    if (!h || at.begin == at.end || o >= r.updates.size() || !r.updates[o].instruction) return {};
    std::vector<HeldBytes::Remains> out = h->remains;
    for (const Token t : h->tokens) out.push_back({t, {}});
    for (HeldBytes::Remains& rest : out) rest.changes.push_back({region, static_cast<int32_t>(o)});
    return out;
  }

  /// Are the elements that the kernel loads unchanged, though others have changed?
  bool remains_beside(State& state, int32_t slot, const ProgramStep& s, size_t input) {
    const HeldBytes::Held* h = state.memory.at(state.memory.place(slot));
    if (!h || h->remains.empty()) return false;
    const Token t = token(state, program_.regions[s.region].inputs[input]);
    return std::ranges::any_of(h->remains, [&](const HeldBytes::Remains& rest) {
      return rest.token == t && std::ranges::none_of(rest.changes, [&](const Change& change) {
               return proofs_.may_read(s.region, input, change);
             });
    });
  }

  /// For results computed through scratch: is it separate from all other memory, and large enough?
  void scratch_of_kernel(const ProgramStep& s, State& state) {
    if (!s.way || (!s.way->strips && !s.way->rearrangement)) return;
    const std::string& name = s.instruction->name;
    const int64_t needed = s.way->scratch_bytes();
    if (s.scratch == kNoId || program_.slots[s.scratch].bytes < needed) {
      fail("%" + name + " has too little scratch");
      return;
    }
    if (!state.memory.may_write(s.scratch)) fail("scratch of %" + name + " overwrites what it must not");
    for (const auto* slots : {&s.reads, &s.writes}) {
      for (const int32_t slot : *slots) {
        if (state.memory.meet(s.scratch, slot)) fail("scratch of %" + name + " lies over an operand or a result");
      }
    }
    state.memory.put(state.memory.place(s.scratch), {next_++});
  }

  void whole(const ProgramStep& s, State& state) {
    size_t read = 0;
    for (const Instruction* operand : s.instruction->operands) {
      for (int64_t l = 0; l < leaf_count(operand->shape); ++l) {
        expect(state, s.reads.at(read++), {operand, static_cast<int32_t>(l)}, s);
      }
    }
    overlaps(s, state);
    scratch_of_library(s);
    if (s.scratch != kNoId) state.memory.put(state.memory.place(s.scratch), {next_++});
    const int64_t results = leaf_count(s.instruction->shape);
    read = 0;
    for (const Instruction* operand : s.instruction->operands) {
      for (int64_t l = 0; l < leaf_count(operand->shape); ++l, ++read) {
        if (s.scratch != kNoId && state.memory.meet(s.scratch, s.reads.at(read)))
          fail("scratch of %" + s.instruction->name + " lies over an operand");
      }
    }
    for (int64_t l = 0; l < results; ++l)
      write(state, s.writes.at(static_cast<size_t>(l)), {s.instruction, static_cast<int32_t>(l)}, s, next_++);
    for (int64_t l = 0; l < results; ++l)
      expect(state, s.writes.at(static_cast<size_t>(l)), {s.instruction, static_cast<int32_t>(l)}, s);
    if (s.scratch != kNoId) {
      for (const int32_t w : s.writes) {
        if (state.memory.meet(s.scratch, w)) fail("scratch of %" + s.instruction->name + " lies over a result");
      }
    }
  }

  /// If a routine's result overlaps an operand, it must be exactly the one that the routine may overwrite.
  void overlaps(const ProgramStep& s, const State& state) {
    for (size_t o = 0; o < s.writes.size(); ++o) {
      const BytePlace result = state.memory.place(s.writes[o]);
      for (size_t i = 0; i < s.reads.size(); ++i) {
        const BytePlace operand = state.memory.place(s.reads[i]);
        if (!result.meets(operand)) continue;
        const bool may = s.kind == StepKind::kLibrary && result == operand &&
                         target_.overwritten_operand(*s.instruction, static_cast<int64_t>(o)) == static_cast<int>(i);
        if (!may) fail("%" + s.instruction->name + " writes over an operand");
      }
    }
  }

  void scratch_of_library(const ProgramStep& s) {
    if (s.kind != StepKind::kLibrary || !routines_.insert(&s).second) return;
    const int64_t has = s.scratch == kNoId ? 0 : program_.slots[s.scratch].bytes;
    if (has < target_.scratch_bytes(*s.instruction)) fail("%" + s.instruction->name + " has too little scratch");
  }

  /// Bytes that move at once are equal or disjoint, or begin at the same address.
  bool may_move_at_once(const std::vector<BytePlace>& from, const std::vector<BytePlace>& to) {
    for (size_t w = 0; to.size() > 1 && w < to.size(); ++w) {
      for (size_t k = 0; k < to.size(); ++k) {
        if (to[w].meets(from[k]) && to[w].begin != from[k].begin) return false;
        if (k != w && to[w].meets(to[k])) return false;
      }
    }
    return true;
  }

  std::vector<BytePlace> places(const State& state, const std::vector<int32_t>& slots) const {
    std::vector<BytePlace> out;
    for (const int32_t slot : slots) out.push_back(state.memory.place(slot));
    return out;
  }

  void copy(const ProgramStep& s, State& state) {
    if (!may_move_at_once(places(state, s.reads), places(state, s.writes)))
      fail("copies at once overwrite what they read");
    for (size_t i = 0; i < s.writes.size(); ++i) {
      if (!state.memory.may_write(s.writes[i])) fail("a copy overwrites what it must not");
      if (!of_several_devices_ && program_.slots[s.reads[i]].bytes != program_.slots[s.writes[i]].bytes)
        fail("a copy between different sizes");
    }
    state.memory.copy(s.reads, s.writes);
  }

  static size_t longest_rotation(const std::vector<ProgramStep>& body) {
    size_t most = 0;
    for (const ProgramStep& s : body) {
      if (s.kind == StepKind::kRotate) most = std::max(most, s.to.size());
    }
    return most;
  }

  /// A name for a result of a control instruction: the operand's name if the value passes through unchanged.
  Token result_token(State& state, const Instruction& control, int64_t leaf) {
    const LeafRef own{&control, static_cast<int32_t>(leaf)}, before = passed_through(own);
    return before.instruction == own.instruction ? next_++ : token(state, before);
  }

  /// Leaves the loop after zero, one and two iterations (more if addresses rotate), each as a separate state.
  void loop(const ProgramStep& s, State& state, std::vector<State>& after) {
    const Instruction& i = *s.instruction;
    const Computation &condition = *i.called.at(0), &body = *i.called.at(1);
    const int64_t leaves = leaf_count(i.shape);
    const std::vector<int32_t> addresses = state.memory.addresses();
    std::vector<Token> carried, results;
    for (int64_t l = 0; l < leaves; ++l) {
      carried.push_back(token(state, {i.operands[0], static_cast<int32_t>(l)}));
      results.push_back(result_token(state, i, l));
    }
    if (s.trip_count != kNoId && !runs_so_often(s)) return fail("%" + i.name + " doesn't run as often as it says");
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
          left.memory.add_name(carried[l], results[l]);
          name(left, &i, l, results[l]);
        }
        const std::vector<BytePlace> from = places(left, s.settle);
        left.memory.settle(s.settle, addresses);
        if (!may_move_at_once(from, places(left, s.settle))) fail("%" + i.name + " ends with bytes that meet");
        after.push_back(std::move(left));
      }
      if (trip == trips || is_over()) break;
      enter(states, body, carried);
      execute(s.blocks.at(1), states);
      if (is_over()) return;
      if (states.size() != 1) return fail("the body of %" + i.name + " ends in several states");
      for (int64_t l = 0; l < leaves; ++l) carried[l] = token(states[0], {body.root, static_cast<int32_t>(l)});
    }
  }

  static bool runs_so_often(const ProgramStep& s) {
    const auto known = trip_count(*s.instruction);
    return known && known->trips == s.trip_count;
  }

  void enter(std::vector<State>& states, const Computation& c, const std::vector<Token>& carried) {
    const Instruction* p = parameter_of(c);
    for (State& state : states) {
      forget(state, c);
      for (size_t l = 0; p && l < carried.size(); ++l) name(state, p, static_cast<int64_t>(l), carried[l]);
    }
  }

  /// Drops the names of a computation's values, since each run computes them anew; constants stay.
  void forget(State& state, const Computation& c) {
    for (const auto& i : c.instructions()) {
      if (i->opcode == Opcode::kConstant) continue;
      std::fill_n(state.tokens.begin() + static_cast<std::ptrdiff_t>(numbers_.of(*i)), leaf_count(i->shape), kNoId);
    }
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
          at.memory.add_name(token(at, {branch.root, static_cast<int32_t>(l)}), results[l]);
          name(at, &i, l, results[l]);
        }
        after.push_back(std::move(at));
      }
    }
  }

  /// Merges states into what holds on all paths; they must have the same addresses.
  void merge(std::vector<State>& states) {
    while (states.size() > 1) {
      State other = std::move(states.back());
      states.pop_back();
      State& into = states.front();
      if (!into.memory.keep_common(other.memory)) fail("addresses depend on the way");
      // A name that only one path gave can't be in the bytes of both, so either state's name will do.
      for (size_t k = 0; k < into.tokens.size(); ++k) {
        if (into.tokens[k] == kNoId) into.tokens[k] = other.tokens[k];
      }
    }
  }

  void finish(State state) {
    const Instruction& root = *module_.entry->root;
    std::vector<int32_t> seen;
    for (int64_t l = 0; l < leaf_count(root.shape); ++l) {
      const int32_t slot = program_.output_slots.at(static_cast<size_t>(l));
      const Slot& s = program_.slots[slot];
      const Storage& storage = program_.storages[s.storage];
      const bool own = storage.kind == StorageKind::kOutput && storage.number == l;
      if (!own && !(storage.kind == StorageKind::kArgument && storage.donated))
        fail("result " + std::to_string(l) + " ends in memory that isn't its own");
      if (s.bytes > 0 && std::find(seen.begin(), seen.end(), s.storage) != seen.end())
        fail("two results end in one storage");
      seen.push_back(s.storage);
      const Shape* shape = leaf_shape(root.shape, l);
      if (shape->is_array() && !state.memory.holds(slot, token(state, {&root, static_cast<int32_t>(l)}))) {
        fail("result " + std::to_string(l) + " is not where it must be at the end");
      }
    }
  }

  const Program& program_;
  const Target& target_;
  const Module& module_;
  const bool of_several_devices_;  ///< before partitioning: a copy may be divided differently
  const ArrayNumbers numbers_;
  Token next_ = 0;
  /// Results of kernels, by output and operands.
  std::map<std::tuple<const Instruction*, int32_t, std::vector<Token>>, Token> made_;
  std::set<std::pair<const Instruction*, int32_t>> generated_;  ///< what kernels compute from nothing
  KernelProofs proofs_;
  std::set<const ProgramStep*> routines_;  ///< whose scratch was checked
  std::string fault_;
  int64_t visits_;  ///< of steps, left
};

}  // namespace

std::string check_program(const Program& program, const Target& target, int64_t most_visits, const NestOf& nest_of) {
  return CheckProgram(program, target, most_visits, nest_of).run();
}

}  // namespace lowtide::engine
