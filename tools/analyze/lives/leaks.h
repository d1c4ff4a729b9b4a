// Lines of the program that keep more in every step: what each of them allocated in nearly all steps so far, and is
// still live when the newest step begins.
//
//     step          0    1    2    3    4    5  ◄ the newest
//     train.py:40   ■    ■    ■    ■    ■    ■    a list that only grows: a leak
//     train.py:72   ■                        ■    an optimizer's state, and this step's gradients
//     loader.py:9             ■    ■    ■    ■    a queue: as long in the tenth step as in the thousandth
//
// Looked at where steps begin (pass/steps.h), never at the end: an interpreter that ends frees what a program leaked.
#ifndef TOOLS_ANALYZE_LIVES_LEAKS_H_
#define TOOLS_ANALYZE_LIVES_LEAKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/windowed_visitor.h"
#include "tools/model/capture.h"

namespace memoir {

struct Leak {
  SourceLine line;  // of a backward node that its forward operator is of
  std::string device;
  ProcessId process;
  std::uint64_t bytes = 0;  // of those steps together, without the newest
  std::uint64_t blocks = 0;
  std::uint64_t steps = 0;  // that left something behind
  std::uint64_t ns = 0;     // when the newest step began
  std::uint64_t bytes_per_step() const { return bytes / steps; }
};

class LeakPass : public WindowedVisitor {
 public:
  LeakPass(const Capture& capture, const Selection& selection)
      : WindowedVisitor(capture, selection), lines_(selection.own) {}
  // After the replay: most bytes first.
  std::vector<Leak> Take();

 protected:
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void StepBegins(StepSource source, const Event& event) override;

 private:
  struct Held {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
  };
  using Place = std::pair<DeviceId, std::uint32_t>;  // and a number of lines_
  // Of one line on one device.
  struct Row {
    std::map<std::uint64_t, Held> by_step;  // live, by the step that allocated it
    Held all;
    std::uint64_t first_step = 0;
  };
  struct Known {
    Place place;
    std::uint64_t step = 0;
    bool counts = false;  // false: no line, or from before steps were counted so
  };
  struct Memory {
    std::uint64_t live = 0;
    std::uint64_t peak = 0;
  };
  void Restart(StepSource source);
  void Judge(const Event& event);

  SourceLines lines_;
  StepSource source_ = StepSource::kNone;  // the best so far: what counts as a step
  std::uint64_t step_ = 0;
  absl::flat_hash_map<Place, Row> rows_;
  std::vector<Known> known_;  // by Block::slot + 1
  std::map<DeviceId, Memory> memory_;
  std::vector<std::pair<Place, Leak>> newest_;  // of the process in hand, without names
  std::vector<Leak> leaks_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAKS_H_
