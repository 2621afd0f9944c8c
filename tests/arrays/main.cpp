// arrays_test [CACHE]: all tests with kernels kept in a folder, so that a second run compiles nothing.
#include <cstdlib>

#include "support.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* const cache = std::getenv("LOWTIDE_ARRAYS_CACHE");
  auto session = lowtide::Session::open({.kernels_of_any_shape = true, .cache_directory = cache ? cache : ""});
  if (!session.ok()) return 1;
  lowtide::use(*session);
  return RUN_ALL_TESTS();
}
