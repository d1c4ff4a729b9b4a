// Summaries of many recordings as one. Adding is associative and commutative: any order and grouping of the same
// summaries gives the same message, byte for byte, so that a scheduler may combine them as it likes.
//
// Only the bound on rows breaks that, which no program comes near: what comes behind kMostRows different names is in
// `other_bytes`.
#ifndef TOOLS_ANALYZE_RANKS_JOB_BOOK_H_
#define TOOLS_ANALYZE_RANKS_JOB_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "memoir/v1/summary.pb.h"
#include "tools/analyze/ranks/step_windows.h"

namespace memoir {

class JobBook {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 18;
  static constexpr std::size_t kMostWindows = 1024;  // of a kind of device; where there are more, they get wider

  void Add(const v1::RecordingSummary& recording);
  void Add(const v1::JobSummary& job);
  v1::JobSummary Take() const;

 private:
  struct Window {
    StepLevels most;
    std::string most_of;
    void Raise(const Window& other);
  };
  struct Windows {
    std::uint64_t steps = 1;
    std::map<std::uint64_t, Window> by_number;  // of first step / steps
    void Widen(std::uint64_t wider);
    void Add(std::uint64_t of_steps, std::uint64_t first_step, const Window& window);
  };
  struct Row {
    std::uint64_t bytes = 0, devices = 0, most_bytes = 0;
    std::string most_of;
  };
  struct Held {
    std::map<std::string, Row> rows;
    std::uint64_t bytes = 0, other_bytes = 0, devices = 0;
  };
  void AddTo(const std::string& kind, const v1::DeviceSummary& device, const std::string& of);
  void AddRow(Held& held, const std::string& name, const Row& row);

  std::vector<v1::RecordingSummary> recordings_;
  std::map<std::string, Windows> windows_;                    // by kind of device
  std::map<std::pair<std::string, std::string>, Held> held_;  // by kind of device and grouping
  std::size_t rows_ = 0;
};

// "cuda" of "cuda:3"
std::string KindOfDevice(const std::string& device);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_BOOK_H_
