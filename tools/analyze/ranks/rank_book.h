// What a comparison of ranks keeps of each recording: a few kilobytes of its summary, so that thousands fit.
#ifndef TOOLS_ANALYZE_RANKS_RANK_BOOK_H_
#define TOOLS_ANALYZE_RANKS_RANK_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memoir/v1/summary.pb.h"

namespace memoir {

// As summaries have them.
inline constexpr std::array<const char*, 4> kHeldBy = {"module", "operator", "line", "category"};

struct RankRow {
  std::uint32_t name = 0;  // of RankBook
  std::uint64_t bytes = 0;
};

// In a dimension in which more than one rank stands.
struct RankCoordinate {
  std::string dimension;
  std::uint32_t index = 0;
};

// Of its GPU with the highest peak; of the host where it has no GPU.
struct RankFacts {
  std::string label;  // "rank 3", "rank 3 restart 1"
  std::uint32_t rank = 0;
  std::string host, device;
  std::vector<RankCoordinate> coordinates;
  std::string place;  // the same as text: "pp 1, tp 0"; "" where the program has not said
  std::vector<std::uint64_t> modules, kinds_of_modules;  // sketches
  std::uint64_t allocated = 0, reserved = 0, outside = 0, at_end = 0;
  std::uint64_t steps = 0;
  bool ended = false;                                          // in good order or not: it does not record any more
  std::uint64_t window_steps = 1;                              // a power of two
  std::map<std::uint64_t, std::uint64_t> allocated_by_window;  // by first step / window_steps
  std::array<std::vector<RankRow>, kHeldBy.size()> rows;       // at the peak
  std::vector<v1::GrowthSummary> growth;
};

class RankBook {
 public:
  // Leaves out what is no rank, and what an earlier restart of a rank has recorded.
  void Add(const v1::RecordingSummary& recording);
  // By rank.
  std::vector<RankFacts> Take();
  const std::string& NameOf(std::uint32_t name) const { return names_[name]; }

 private:
  std::uint32_t Intern(const std::string& name);

  struct Kept {
    std::uint64_t restart = 0, events = 0;
    RankFacts facts;
  };
  std::map<std::uint32_t, Kept> ranks_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_RANK_BOOK_H_
