// What `memoir live` shows, put together: the followed folder, what its events say, the processes of this host.
#ifndef TOOLS_CLI_LIVE_FOLLOWED_PICTURE_H_
#define TOOLS_CLI_LIVE_FOLLOWED_PICTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/live/live_pass.h"
#include "tools/analyze/live/live_picture.h"
#include "tools/follow/followed_folder.h"

namespace memoir {

class FollowedPicture {
 public:
  // `cpu_share`: of one processor, what reading may take.
  static absl::StatusOr<std::unique_ptr<FollowedPicture>> Open(const std::string& folder, double cpu_share);

  // Reads what has come since the last look. `go_on`: as of FollowedFolder::Look.
  void Look(const std::function<bool()>& go_on);
  const LivePicture& picture() const { return picture_; }
  // No process runs any more, and nothing more is to come.
  bool is_over() const;

 private:
  struct Rate {  // between looks
    std::uint64_t time_ns = 0, events = 0, chunks = 0, in_full = 0;
    double events_per_second = 0, chunks_per_second = 1, full_share = 1;
  };
  explicit FollowedPicture(double cpu_share) : budget_(cpu_share) {}
  void Describe(std::size_t at, std::uint64_t now_ns);
  void DescribeState(const FollowedRecording& recording, LiveProcess& process) const;

  CpuBudget budget_;
  std::vector<std::unique_ptr<LivePass>> passes_;  // by recording
  std::vector<Rate> rates_;                        // likewise
  std::unique_ptr<FollowedFolder> folder_;
  LivePicture picture_;
  std::uint64_t cpu_ns_ = 0, cpu_at_ns_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_FOLLOWED_PICTURE_H_
