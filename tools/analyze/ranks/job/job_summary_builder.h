// Combines summaries of many recordings into one. Adding is associative and commutative: any order and grouping of the
// same summaries gives the same message, byte for byte, so a scheduler may combine them in any order.
//
// An exception is the bound on rows, which ordinary programs do not reach: rows beyond kMostRows different names are
// summed in `other_bytes`.
#ifndef TOOLS_ANALYZE_RANKS_JOB_JOB_SUMMARY_BUILDER_H_
#define TOOLS_ANALYZE_RANKS_JOB_JOB_SUMMARY_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "memoir/v1/summary.pb.h"
#include "tools/analyze/ranks/job/step_maxima.h"

namespace memoir {

class JobSummaryBuilder {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 18;
  // Largest number of windows of steps (step_maxima.h) for each kind of device. If there would be more, they are merged
  // into longer windows.
  static constexpr std::size_t kMostWindows = 1024;

  void Add(const v1::RecordingSummary& recording);
  void Add(const v1::JobSummary& job);
  v1::JobSummary Take() const;

 private:
  // The maxima over all recordings in one window of steps.
  struct Window {
    StepLevels most;
    std::string most_of;  // label of the rank with the most allocated bytes
    void Raise(const Window& other);
  };
  struct Windows {
    std::uint64_t steps = 1;                    // length of a window
    std::map<std::uint64_t, Window> by_number;  // by first step / steps
    void Widen(std::uint64_t wider);
    void Add(std::uint64_t of_steps, std::uint64_t first_step, const Window& window);
  };
  struct Row {
    std::uint64_t bytes = 0, devices = 0, most_bytes = 0;
    std::string most_of;
  };
  struct HoldingSums {
    std::map<std::string, Row> rows;
    std::uint64_t bytes = 0, other_bytes = 0, devices = 0;
  };
  void AddTo(const std::string& kind, const v1::DeviceSummary& device, const std::string& of);
  void AddRow(HoldingSums& held, const std::string& name, const Row& row);

  std::vector<v1::RecordingSummary> recordings_;
  std::map<std::string, Windows> windows_;                           // by kind of device
  std::map<std::pair<std::string, std::string>, HoldingSums> held_;  // by kind of device and grouping
  std::size_t rows_ = 0;                                             // number of rows in held_
};

// Returns "cuda" for "cuda:3".
std::string KindOfDevice(const std::string& device);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_JOB_SUMMARY_BUILDER_H_
