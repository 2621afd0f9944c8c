#include "base/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace lowtide::engine {
namespace {

namespace fs = std::filesystem;

/// A machine with 8 GiB, and its files as Linux has them.
class MachineFacts : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/lowtide_machine_" + std::to_string(::getpid());
    fs::remove_all(root_);
    write("/proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1048576 kB\nMemAvailable: 4194304 kB\nCached: 6291456 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  int64_t mib() const { return available_memory(root_).bytes >> 20; }
  std::string root_;
};

TEST_F(MachineFacts, PagesOfFilesAreThereForTheTaking) {
  EXPECT_EQ(mib(), 4096) << "what the kernel calls available, not what is free";
}

TEST_F(MachineFacts, ControlGroupsOfTheSecondVersion) {
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/sys/fs/cgroup/user/job/memory.max", "1073741824\n");
  write("/sys/fs/cgroup/user/job/memory.current", "1063256064\n");  // ten MiB below it
  write("/sys/fs/cgroup/user/job/memory.stat",
        "anon 10485760\nfile 1048576000\ninactive_file 524288000\nactive_file 419430400\nslab_reclaimable 4194304\n");
  EXPECT_EQ(mib(), 10 + 500 + 400 + 4);
  EXPECT_EQ(available_memory(root_).bound_by, "the control group");
  write("/sys/fs/cgroup/user/memory.max", "max\n");
  write("/sys/fs/cgroup/user/memory.high", "536870912\n");
  write("/sys/fs/cgroup/user/memory.current", "268435456\n");
  EXPECT_EQ(mib(), 256) << "a group above binds as well, and one that is slowed down there swaps";
  write("/sys/fs/cgroup/user/job/memory.stat", "");
  EXPECT_EQ(mib(), 10) << "the control: nothing to reclaim";
}

TEST_F(MachineFacts, ControlGroupsOfTheFirstVersion) {
  write("/proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/job\n0::/\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "104857600\n");
  write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "94371840\n");
  write("/sys/fs/cgroup/memory/job/memory.stat",
        "cache 83886080\ninactive_file 1\nactive_file 1\ntotal_inactive_file 20971520\ntotal_active_file 62914560\n");
  EXPECT_EQ(mib(), 10 + 20 + 60);
}

}  // namespace
}  // namespace lowtide::engine
