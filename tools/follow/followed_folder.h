// A capture folder while it is being written: the recordings of its newest run, and recordings that begin later.
//
// One thread.
#ifndef TOOLS_FOLLOW_FOLLOWED_FOLDER_H_
#define TOOLS_FOLLOW_FOLLOWED_FOLDER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/follow/followed_recording.h"
#include "tools/read/capture_folder.h"
#include "tools/read/symbols.h"

namespace memoir {

class FollowedFolder {
 public:
  // Returns the visitor for a recording's events; the visitor must outlive this object.
  using MakeVisitor = std::function<Visitor&(const v1::ProcessInfo&)>;

  // `path` is a folder, or a part in it. Returns the same errors as OpenFolder.
  static absl::StatusOr<std::unique_ptr<FollowedFolder>> Open(const std::string& path, MakeVisitor make_visitor);

  // Looks for new files, then reads new chunks of all files while `go_on` returns true. Returns true if it read a
  // chunk.
  bool ReadNewChunks(CpuBudget& budget, const std::function<bool()>& go_on);
  const std::string& folder() const { return folder_; }
  bool is_gone() const { return gone_; }  // the folder was removed
  // In the order in which they were found.
  const std::vector<std::unique_ptr<FollowedRecording>>& recordings() const { return recordings_; }

 private:
  FollowedFolder(std::string folder, MakeVisitor make_visitor, Symbols symbols)
      : folder_(std::move(folder)), make_visitor_(std::move(make_visitor)), symbols_(std::move(symbols)) {}
  void FindNewFiles();
  void Add(ProcessFiles files);

  const std::string folder_;
  const MakeVisitor make_visitor_;
  const Symbols symbols_;
  std::map<std::string, std::uint64_t> others_;  // sizes of the files that belong to no followed recording
  std::vector<std::unique_ptr<FollowedRecording>> recordings_;
  bool gone_ = false;
};

}  // namespace memoir

#endif  // TOOLS_FOLLOW_FOLLOWED_FOLDER_H_
