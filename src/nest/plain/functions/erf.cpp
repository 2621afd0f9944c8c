/// The error function: a polynomial below 1; above, 1 - erfc(x), where erfc is e to a polynomial (f32), or e^-x^2 times
/// a polynomial in (x - 5/2)/(x + 5/2) (f64).

#include "nest/plain/functions.h"

namespace lowtide::engine {

Plain error_function(Plain x) {
  const Plain magnitude = absolute(x), square = x * x;
  Plain near = x, far = x;
  if (is_f32(x)) {
    near = polynomial(square, {0.1283791657, -0.3761262582, 0.1128358515, -0.02685381192, 0.005188327679,
                               -0.000801019369, 7.853861906e-5});
    const Plain bounded = select(magnitude > 4.0, 4.0, magnitude);
    far = 1.0 -
          moderate_exponential(polynomial(bounded, {0.0001884680523, -1.129580312, -0.6332163963, -0.1084220996,
                                                    0.02521033949, -0.004205284584, 0.0004414726071, -2.169760977e-5}));
  } else {
    near = polynomial(
        square, {0.128379167095512566, -0.376126389031835195, 0.112837916709441847, -0.0268661706431114625,
                 0.0052239776061184645, -0.000854832592931538979, 0.000120552935769628209, -0.0000149247123037901099,
                 1.64471315994082704e-6, -1.62063140140999038e-7, 1.37109816519680943e-8, -7.77947106709651498e-10});
    const Plain bounded = select(magnitude > 6.0, 6.0, magnitude);
    const Plain t = (bounded - 2.5) / (bounded + 2.5);
    const Plain p = polynomial(
        t, {0.210806364061143581, -0.371736733948973427, 0.251713193217446337, -0.125033052378835785,
            0.0399225390762909934, -0.00399370115768703193, -0.00264236596009571483, 0.000875914972482842641,
            0.000228377045171368331, -0.00012888236600641993, -0.0000341378063775402888, 0.0000189104296583337827,
            8.38821094590326977e-6, -1.05359416762167131e-6, -9.71738390379393172e-7});
    far = 1.0 - p * moderate_exponential(-(bounded * bounded));
  }
  return select(magnitude < 1.0, fma(x, near, x), with_sign_of(far, x));
}

}  // namespace lowtide::engine
