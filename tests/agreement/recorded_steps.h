// A recording of an invented program whose steps repeat, and the events that a reader must show. It includes nothing of
// the recorder, whose names conflict with the tools'.
#ifndef TESTS_AGREEMENT_RECORDED_STEPS_H_
#define TESTS_AGREEMENT_RECORDED_STEPS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace memoir::test {

// The events that a reader must show: a line for each.
struct Steps {
  std::vector<std::string> events;
  std::vector<std::uint64_t> step_ticks;
  std::set<std::pair<std::string, std::uint64_t>> live;  // at the end: device and bytes, address
};

enum class Course : std::uint8_t {
  kRestless,    // steps of three kinds; every few steps another thread does something
  kLosesFrees,  // as that; some frees are not recorded, and another block comes to their address: `expected` lacks what
                // a reader makes of that
  kCalm,        // the kinds take turns, and little else happens
  kLeaks,       // as that, and each fortieth step keeps a block
};

class RecordedSteps {
 public:
  // The steps are other ones with each seed. With --detail auto in its facts.
  RecordedSteps(std::uint32_t seed, int steps, Course course = Course::kRestless);
  ~RecordedSteps();
  const std::string& folder() const;
  const std::string& error() const;  // "": it was recorded
  const Steps& expected() const { return expected_; }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  Steps expected_;
};

}  // namespace memoir::test

#endif  // TESTS_AGREEMENT_RECORDED_STEPS_H_
