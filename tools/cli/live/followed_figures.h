// Collects the figures that `memoir live` shows, from the files in the followed folder and from the processes of this
// host.
#ifndef TOOLS_CLI_LIVE_FOLLOWED_FIGURES_H_
#define TOOLS_CLI_LIVE_FOLLOWED_FIGURES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/live/live_figures.h"
#include "tools/analyze/live/live_pass.h"
#include "tools/follow/followed_folder.h"

namespace memoir {

class FollowedFigures {
 public:
  // `cpu_share`: the part of one processor that reading may use.
  static absl::StatusOr<std::unique_ptr<FollowedFigures>> Open(const std::string& folder, double cpu_share);

  // Reads the chunks that were written since the last call. `go_on`: as in FollowedFolder::Update().
  void Update(const std::function<bool()>& go_on);
  const LiveFigures& figures() const { return figures_; }
  // Returns true if the last Update() found no process of the recording that still runs.
  bool is_over() const;

 private:
  struct Rate {  // counts at the newest update that found new chunks, and the rates before it
    std::uint64_t time_ns = 0, events = 0, chunks = 0, in_full = 0;
    double events_per_second = 0, chunks_per_second = 1, full_share = 1;
  };
  explicit FollowedFigures(double cpu_share) : budget_(cpu_share) {}
  void Describe(std::size_t at, std::uint64_t now_ns);
  void DescribeState(const FollowedRecording& recording, LiveProcess& process) const;

  CpuBudget budget_;
  std::vector<std::unique_ptr<LivePass>> passes_;  // by recording
  std::vector<Rate> rates_;                        // by recording
  std::unique_ptr<FollowedFolder> folder_;
  LiveFigures figures_;
  std::uint64_t cpu_ns_ = 0, cpu_at_ns_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_FOLLOWED_FIGURES_H_
