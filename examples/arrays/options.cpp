// options [PATHS]: the price of an Asian call by simulation. Random numbers and paths are made where they are summed
// up: a million paths take what a thousand do.
#include <cmath>
#include <cstdlib>

#include "report.h"

using namespace lowtide;

int main(int argc, char** argv) {
  const int64_t paths = argc > 1 ? std::atoll(argv[1]) : 1 << 20;
  const int steps = 64;
  const float spot = 100, strike = 100, rate = 0.03F, volatility = 0.2F, years = 1,
              dt = years / static_cast<float>(steps);
  const float drift = (rate - 0.5F * volatility * volatility) * dt, spread = volatility * std::sqrt(dt);
  const ManyToMany price = [&](const std::vector<array>& in) {
    // Each step of the loop has a key, and a number for each path.
    const auto step = [&](const std::vector<array>& now, const std::vector<array>& key) {
      const array price = now[0] * exp(drift + spread * random::normal({paths}, float32, key[0]));
      return std::pair(std::vector<array>{price, now[1] + price}, std::vector<array>{});
    };
    const array start = full({paths}, spot);
    const auto [last, none] = scan(step, {start, zeros({paths})}, {random::split(in[0], steps)});
    const array payoff = maximum(last[1] / static_cast<float>(steps) - strike, array(0.0F)) * std::exp(-rate * years);
    return std::vector<array>{mean(payoff), lowtide::std(payoff) / std::sqrt(static_cast<float>(paths))};
  };
  const array key = random::key(1);
  reset_peak_memory();
  const size_t before = get_active_memory();
  const std::vector<array> made = price({key});
  eval(made);
  const size_t peak = get_peak_memory() - before;
  std::printf("%.4f +- %.4f (the call on the geometric mean is worth 5.09)\n",
              static_cast<double>(made[0].item<float>()), static_cast<double>(made[1].item<float>()));
  // Two numbers per path are what the simulation carries from step to step.
  print_peak("option", peak, 8 * paths + 16);
}
