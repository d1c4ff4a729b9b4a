// The distance between the lines of a chart's axis.
#ifndef TOOLS_VIEW_PICTURE_AXIS_STEPS_H_
#define TOOLS_VIEW_PICTURE_AXIS_STEPS_H_

namespace memoir {

// Returns a power of 2 if `base` is 2 (for bytes), and 1, 2 or 5 times a power of 10 if `base` is 10. `whole` contains
// four to nine such steps, or fewer if it is less than 4.
inline double AxisStep(double whole, double base) {
  double step = 1;
  while (whole / (step * base) >= 4) step *= base;
  if (base > 2) {
    for (const double times : {5.0, 2.0}) {
      if (whole / (step * times) >= 4) return step * times;
    }
  }
  return step;
}

}  // namespace memoir

#endif  // TOOLS_VIEW_PICTURE_AXIS_STEPS_H_
