// ocean [SIDE [STEPS]]: waves on shallow water, a thousand steps in the memory of the state: whole stages of a step are
// made a few rows at a time.
#include <cmath>
#include <cstdlib>

#include "report.h"

using namespace lowtide;

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 512, steps = argc > 2 ? std::atoi(argv[2]) : 100;
  const float dt = 0.1F, gravity = 1, depth = 1;
  const array x = (arange(side) - side / 2) / static_cast<float>(side) * 8.0F;
  array h = exp(negative(square(x) + square(expand_dims(x, 1))));  // a hill of water
  array u = zeros({side, side}), v = u;
  const auto slope = [](const array& a, int axis) { return (roll(a, -1, axis) - roll(a, 1, axis)) * 0.5F; };
  const ManyToMany run = [&](const std::vector<array>& in) {
    const auto step = [&](const std::vector<array>& now, const std::vector<array>&) {
      const array east = now[1] - dt * gravity * slope(now[0], 1), north = now[2] - dt * gravity * slope(now[0], 0);
      const array height = now[0] - dt * depth * (slope(east, 1) + slope(north, 0));
      return std::pair(std::vector<array>{height, east, north}, std::vector<array>{});
    };
    return scan(step, in, {}, steps).first;
  };
  eval(h, u, v);
  const float before = sum(h).item<float>();
  std::vector<array> state = {h, u + 0.0F, v + 0.0F};
  eval(state);
  h = u = v = array(0);
  reset_peak_memory();
  state = run(std::exchange(state, {}));
  eval(state);
  const size_t peak = get_peak_memory();
  std::printf("water %.3f before and %.3f after, highest %.3f\n", static_cast<double>(before),
              static_cast<double>(sum(state[0]).item<float>()), static_cast<double>(max(state[0]).item<float>()));
  print_peak("ocean", peak, 3 * static_cast<int64_t>(state[0].nbytes()));
}
