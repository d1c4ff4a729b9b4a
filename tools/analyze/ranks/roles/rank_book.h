// The facts about each recording that a comparison of ranks needs: a few kilobytes from its summary, so thousands of
// ranks fit in memory.
#ifndef TOOLS_ANALYZE_RANKS_ROLES_RANK_BOOK_H_
#define TOOLS_ANALYZE_RANKS_ROLES_RANK_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memoir/v1/summary.pb.h"

namespace memoir {

// Groupings of rows, with their names in summaries.
inline constexpr std::array<const char*, 4> kHeldBy = {"module", "operator", "line", "category"};

struct RankRow {
  std::uint32_t name = 0;  // number of the name in RankBook
  std::uint64_t bytes = 0;
};

// The index of a rank in a dimension of parallelism. Dimensions with only one index are left out.
struct RankCoordinate {
  std::string dimension;
  std::uint32_t index = 0;
};

// Facts about one rank. Memory figures are for its GPU with the highest peak, or for the host if it has no GPU.
struct RankFacts {
  std::string label;  // "rank 3", "rank 3 restart 1"
  std::uint32_t rank = 0;
  std::string host, device;
  std::vector<RankCoordinate> coordinates;
  std::string place;  // the coordinates as text: "pp 1, tp 0"; empty if the program did not report them
  std::vector<std::uint64_t> modules, kinds_of_modules;  // sketches of the module names, with and without numbers
  std::uint64_t allocated = 0, reserved = 0;
  // Non-PyTorch memory without NCCL's part, which depends on the ranks with which a rank communicates.
  std::uint64_t outside = 0;
  // Allocated bytes at the peak and at the end, without DDP's buckets, because other threads free these.
  std::uint64_t own = 0, own_at_end = 0;
  // Bytes of DDP's buckets: the smallest maximum of a window of steps, and the maximum. 0 without buckets.
  std::uint64_t buckets = 0, most_buckets = 0;
  // Allocated bytes without DDP's buckets when a step begins: the lower quartile over the windows after the first. 0:
  // unknown.
  std::uint64_t between_steps = 0;
  std::uint64_t steps = 0;
  bool only_infers = false;        // ended well, after calls of a module and without an optimizer's step
  bool shards_parameters = false;  // FSDP: each rank keeps other parts of the parameters
  bool shards_optimizer = false;   // ZeroRedundancyOptimizer: each rank keeps the state of other parameters
  v1::End::Reason end = v1::End::UNKNOWN;
  std::string end_message;
  std::uint32_t end_signal = 0;  // 0: unknown
  // The recording ended between these times, in nanoseconds since 1970. A killed process was alive at its last event,
  // and when its writer last read the clock.
  std::uint64_t alive_until_ns = 0, ended_by_ns = 0;
  bool ended() const { return end != v1::End::UNKNOWN; }      // true if it does not record any more, for any reason
  bool was_killed() const { return end == v1::End::MERGED; }  // killed, or it left by os._exit or exec
  bool has_failed = false;                                    // IsBadEnd()
  bool has_raised() const { return has_failed && !was_killed(); }  // an uncaught exception ended it
  std::uint64_t window_steps = 1;                                  // a power of two
  // Most allocated bytes without DDP's buckets in each window of steps, by first step / window_steps.
  std::map<std::uint64_t, std::uint64_t> own_by_window;
  std::array<std::vector<RankRow>, kHeldBy.size()> rows;  // rows at the peak, by kHeldBy
  std::vector<v1::GrowthSummary> growth;
};

class RankBook {
 public:
  // Adds the rank of a recording. Ignores a process without a rank, and earlier restarts of a rank.
  void Add(const v1::RecordingSummary& recording);
  // Returns the ranks, ordered by rank.
  std::vector<RankFacts> Take();
  const std::string& NameOf(std::uint32_t name) const { return names_[name]; }

 private:
  std::uint32_t Intern(const std::string& name);

  struct RankEntry {
    std::uint64_t restart = 0, events = 0;
    RankFacts facts;
  };
  std::map<std::uint32_t, RankEntry> ranks_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ROLES_RANK_BOOK_H_
