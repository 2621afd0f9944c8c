#include "support/allocation_watch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <thread>
#include <vector>

namespace lowtide::engine {
namespace {

class Watch : public testing::Test {
  void SetUp() override {
    if (!AllocationWatch::works()) GTEST_SKIP() << "sanitizers have an allocator of their own";
  }
};

TEST_F(Watch, SeesTheHeapOfAllThreads) {
  const AllocationWatch watch;
  {
    const std::vector<char> here(100'000);
    EXPECT_GE(watch.most_bytes(), 100'000);
    std::thread([] { EXPECT_NE(std::make_unique<char[]>(50'000), nullptr); }).join();
  }
  EXPECT_GE(watch.most_bytes(), 150'000);
  EXPECT_LT(watch.most_bytes(), 250'000);
}

TEST_F(Watch, CountsWhatIsHeldAtOnce) {
  const AllocationWatch watch;
  for (int i = 0; i < 1000; ++i) {
    void* volatile block = ::malloc(1000);
    ::free(block);
  }
  EXPECT_LT(watch.most_bytes(), 10'000);
}

TEST_F(Watch, SeesMappings) {
  const AllocationWatch watch;
  void* const pages = ::mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ::munmap(pages, 1 << 20);
  EXPECT_GE(watch.most_bytes(), 1 << 20);
}

}  // namespace
}  // namespace lowtide::engine
