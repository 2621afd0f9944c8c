#include "analysis/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/assignment.h"
#include "analysis/depth_first.h"
#include "analysis/donation.h"
#include "analysis/loop_fusion.h"
#include "analysis/partitioning.h"
#include "analysis/tpu_temp.h"
#include "plan/first_come.h"
#include "plan/pack.h"

namespace lowtide::engine {
namespace {

constexpr Bytes kCpuAlignment = 64, kGpuAlignment = 128, kTpuAlignment = 16384;

Bytes alignment_of(XlaBackend backend) {
  switch (backend) {
    case XlaBackend::kGpu: return kGpuAlignment;
    case XlaBackend::kTpu: return kTpuAlignment;
    default: return kCpuAlignment;
  }
}

std::vector<const Instruction*> as_written(const Computation& computation) {
  std::vector<const Instruction*> order;
  order.reserve(computation.instructions().size());
  for (const auto& i : computation.instructions()) order.push_back(i.get());
  return order;
}

class MakeAccount {
 public:
  MakeAccount(const Module& module, AccountMode mode, int64_t pack_work, std::optional<XlaBackend> backend)
      : module_(module),
        mode_(mode),
        scheduled_(mode == AccountMode::kAsGiven && module.is_scheduled),
        pack_work_(pack_work),
        backend_(backend),
        leaves_(module) {}

  Account run() {
    sizes_ = find_partitioning(module_, out_.warnings);
    donation_ = find_donation(module_, leaves_, sizes_, /*with_donors=*/!scheduled_);
    count_arguments_and_results();
    lay_out_program();
    if (timeline_.frames.empty()) {
      if (module_.entry) out_.warnings.push_back("too large to lay out: only arguments and results are counted");
      return std::move(out_);
    }
    if (timeline_.truncated) {
      out_.warnings.push_back("some calls are recursive, too deep or too many: each is counted as one step");
    }
    const Values values = find_values(module_, leaves_, timeline_, donation_,
                                      {.reshape_is_view = !scheduled_, .tests_initial = !scheduled_});
    const Liveness liveness = find_liveness(module_, leaves_, timeline_, values, donation_, virtual_);
    const XlaBackend backend = backend_of(module_);
    in_image_ = scheduled_ && backend == XlaBackend::kTpu;
    const Assignment assignment =
        assign_buffers(module_, leaves_, timeline_, values, liveness, virtual_,
                       {.backend = backend, .trust_ties = scheduled_, .sizes = &sizes_, .donation = &donation_});
    find_places(values.of_leaf.size());
    for (const Allocation& allocation : assignment.own) add_own(allocation, assignment, liveness);
    fill_arena(assignment, liveness, backend);
    out_.timeline = std::move(timeline_.steps);
    return std::move(out_);
  }

 private:
  void lay_out_program() {
    if (!scheduled_) virtual_ = fuse_loops(module_, backend_);
    if (scheduled_ || mode_ == AccountMode::kInOrder) {
      timeline_ = lay_out(module_, leaves_, as_written);
      return;
    }
    const DepthFirst order(module_, virtual_);
    timeline_ = lay_out(module_, leaves_, [&](const Computation& c) { return order.of(c); });
  }

  void count_arguments_and_results() {
    if (!module_.entry) return;
    for (const Instruction* p : module_.entry->parameters()) {
      if (p) out_.argument_bytes = add_bytes(out_.argument_bytes, main_bytes(*p));
    }
    if (module_.entry->root) out_.output_bytes = main_bytes(*module_.entry->root);
    out_.alias_bytes = std::min(out_.output_bytes, donation_.alias_bytes());
  }

  int64_t main_bytes(const Instruction& i) const {
    int64_t sum = 0;
    for (int32_t l = 0; l < leaves_.count(i); ++l) {
      const LeafBytes one = sizes_.of(i, l);
      if (one.memory_space == 0) sum = add_bytes(sum, one.bytes);
    }
    return sum;
  }

  void find_places(size_t leaves) {
    place_.resize(leaves);
    for (size_t s = 0; s < timeline_.steps.size(); ++s) {
      const Instruction& i = *timeline_.steps[s].instruction;
      const Frame& frame = timeline_.frames[timeline_.frame_of[s]];
      const int32_t first = frame.first_leaf + leaves_.first(i);
      for (int32_t l = 0; l < leaves_.count(i); ++l) place_[first + l] = {&i, l};
    }
  }

  ValueRef reference(int32_t leaf) const {
    const auto& [instruction, l] = place_[leaf];
    return {instruction, leaf_index(instruction->shape, l)};
  }

  AccountBuffer describe(const ValueGroup& group, const Liveness& liveness) const {
    AccountBuffer buffer;
    for (const int32_t v : group.values) buffer.values.push_back(reference(v));
    buffer.bytes = group.size.bytes;
    buffer.padding = group.size.padding;
    buffer.memory_space = group.size.memory_space;
    buffer.born = group.alive.front().born;
    buffer.dies = std::min(group.alive.back().dies, last_step());
    Step latest = -1;
    for (const int32_t v : group.values) {
      if (liveness.last[v] <= latest) continue;
      latest = liveness.last[v];
      buffer.last_reader = liveness.last_reader[v];
    }
    return buffer;
  }

  Step last_step() const { return static_cast<Step>(timeline_.steps.size()); }

  void add_own(const Allocation& allocation, const Assignment& assignment, const Liveness& liveness) {
    const ValueGroup& host = assignment.groups[allocation.groups.front()];
    if (host.constant && in_image_) return;
    AccountBuffer buffer = describe(host, liveness);
    buffer.holds_output = host.result;
    for (size_t g = 1; g < allocation.groups.size(); ++g) {
      const ValueGroup& guest = assignment.groups[allocation.groups[g]];
      for (const int32_t v : guest.values) buffer.values.push_back(reference(v));
      buffer.holds_output = buffer.holds_output || guest.result;
    }
    if (host.argument >= 0) {
      buffer.kind = BufferKind::kArgument;
      buffer.donated = donation_.donated[host.argument];
      buffer.born = 0;
      buffer.dies = last_step();
    } else if (host.constant) {
      buffer.kind = BufferKind::kConstant;
      buffer.born = 0;
      buffer.dies = last_step();
      if (buffer.memory_space == 0) out_.constant_bytes = add_bytes(out_.constant_bytes, buffer.bytes);
    } else {
      buffer.kind = BufferKind::kOutput;
      buffer.holds_output = true;
      buffer.dies = last_step();
    }
    out_.buffers.push_back(std::move(buffer));
  }

  /// An unread element of a custom call's result tuple is the workspace of that library call.
  bool is_scratch(const ValueGroup& group, const Liveness& liveness) const {
    if (group.values.size() != 1) return false;
    const auto v = static_cast<size_t>(group.values.front());
    const Instruction& i = *place_[v].first;
    return i.opcode == Opcode::kCustomCall && i.shape.is_tuple() && !liveness.last_reader[v] && !liveness.is_result[v];
  }

  void fill_arena(const Assignment& assignment, const Liveness& liveness, XlaBackend backend) {
    std::map<int64_t, Problem> arenas{{0, {}}};  // by memory space
    Problem all;
    for (const int32_t g : assignment.in_arena) {
      const ValueGroup& group = assignment.groups[g];
      AccountBuffer buffer = describe(group, liveness);
      if (is_scratch(group, liveness)) buffer.kind = BufferKind::kScratch;
      buffer.alive = group.alive;
      for (Lifetime& life : buffer.alive) life.dies = std::min(life.dies, static_cast<Step>(last_step() + 1));
      if (buffer.memory_space == 0) all.buffers.push_back({buffer.bytes, buffer.alive});
      arenas[buffer.memory_space].buffers.push_back({buffer.bytes, buffer.alive});
      out_.buffers.push_back(std::move(buffer));
    }
    for (auto& [space, problem] : arenas) {
      cut_sizes(problem);
      problem.alignment = scheduled_ ? alignment_of(backend) : kCpuAlignment;
      if (space != 0) {
        out_.other_spaces[space] = load_of(problem);
      } else {
        out_.temp_bytes = temp_of(problem, assignment, liveness, backend);
      }
    }
    cut_sizes(all);
    sum_live(all);
    for (int64_t& bytes : out_.live) bytes = add_bytes(bytes, out_.constant_bytes);
    out_.temp_bytes = add_bytes(out_.temp_bytes, out_.constant_bytes);
    const auto most = std::max_element(out_.live.begin(), out_.live.end());
    if (most != out_.live.end()) {
      out_.load_bytes = *most;
      out_.peak_step = static_cast<Step>(most - out_.live.begin());
    }
    for (const AccountBuffer& buffer : out_.buffers) {
      if (buffer.memory_space == 0 && buffer.alive_at(out_.peak_step)) {
        out_.padding_bytes = add_bytes(out_.padding_bytes, buffer.padding);
      }
    }
  }

  Bytes temp_of(const Problem& arena, const Assignment& assignment, const Liveness& liveness,
                XlaBackend backend) const {
    if (!scheduled_) return pack(arena, {.work = pack_work_, .work_per_byte = kWorkPerByte}).height;
    if (backend != XlaBackend::kTpu) return pack_like_xla(in_events(arena, count_events(assignment, liveness))).height;
    return stated_temp(pack_first_come(arena).height, kTpuAlignment, tuples_in_memory(timeline_),
                       traced_peak(assignment, liveness));
  }

  /// The number of births and deaths of values before each step. XLA's packer measures lifetimes in these units when it
  /// places long-lived buffers first.
  std::vector<Step> count_events(const Assignment& assignment, const Liveness& liveness) const {
    std::vector<Step> before(static_cast<size_t>(last_step()) + 3, 0);
    for (const int32_t g : assignment.in_arena) {
      for (const int32_t v : assignment.groups[g].values) {
        ++before[static_cast<size_t>(std::min(liveness.first[v], last_step())) + 1];
        ++before[static_cast<size_t>(std::min(liveness.last[v], last_step())) + 1];
      }
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
    return before;
  }

  /// The same problem with steps counted in events; which lifetimes overlap doesn't change.
  static Problem in_events(Problem problem, const std::vector<Step>& events) {
    for (PackBuffer& buffer : problem.buffers) {
      for (Lifetime& life : buffer.alive) {
        life.born = events[life.born];
        life.dies = std::max(life.born + 1, events[life.dies]);
      }
    }
    return problem;
  }

  /// Limits sizes so that their sum doesn't overflow.
  static void cut_sizes(Problem& problem) {
    const Bytes most = (Bytes{1} << 61) / static_cast<Bytes>(std::max<size_t>(problem.buffers.size(), 1));
    for (PackBuffer& buffer : problem.buffers) buffer.size = std::min(buffer.size, most);
  }

  void sum_live(const Problem& problem) {
    std::vector<int64_t> delta(timeline_.steps.size() + 2, 0);
    for (const PackBuffer& buffer : problem.buffers) {
      for (const Lifetime& life : buffer.alive) {
        delta[life.born] += buffer.size;
        delta[std::min(life.dies, last_step())] -= buffer.size;
      }
    }
    out_.live.resize(timeline_.steps.size());
    int64_t sum = 0;
    for (size_t s = 0; s < out_.live.size(); ++s) out_.live[s] = sum += delta[s];
  }

  const Module& module_;
  const AccountMode mode_;
  const bool scheduled_;
  const int64_t pack_work_;
  const std::optional<XlaBackend> backend_;
  bool in_image_ = false;  ///< constants are part of the loaded program image, like its code (TPU)
  Leaves leaves_;
  Partitioning sizes_;
  Donation donation_;
  VirtualFlags virtual_;
  Timeline timeline_;
  std::vector<std::pair<const Instruction*, int32_t>> place_;
  Account out_;
};

}  // namespace

Account account_for(const Module& module, AccountMode mode, int64_t pack_work, std::optional<XlaBackend> backend) {
  return MakeAccount(module, mode, pack_work, backend).run();
}

}  // namespace lowtide::engine
