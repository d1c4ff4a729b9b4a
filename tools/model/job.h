// The processes of a capture as one job: which ranks exist, which are missing, and how processes are named.
//
// A process without events is idle if it has no rank (a launcher, a compiler's worker, a process that only imported
// torch), or if it only inherited its rank from the process that really has this rank. An idle process stays in
// Capture::processes(), but output does not mention it.
#ifndef TOOLS_MODEL_JOB_H_
#define TOOLS_MODEL_JOB_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/model/capture.h"

namespace memoir {

// One attempt of a job. A job that its launcher restarted has several attempts.
struct JobAttempt {
  std::uint32_t restart = 0;
  std::uint32_t world_size = 0;  // 0: unknown
  std::set<std::uint32_t> ranks;
  std::set<std::uint32_t> missing;  // ranks below world_size without a process
  std::set<std::uint32_t> twice;    // ranks that more than one process has
};

struct Job {
  std::vector<JobAttempt> attempts;  // by restart; empty if no process has a rank
  std::size_t processes = 0;         // number of processes that are not idle
  std::size_t without_rank = 0;      // number of processes without a rank that are not idle
  std::set<std::string> hosts;
};

Job DescribeJob(const Capture& capture);

// A process of a job, for the second DescribeJob. The process must not be idle.
struct JobMember {
  const v1::ProcessInfo* info = nullptr;
  bool is_rank = true;
};
Job DescribeJob(const std::vector<JobMember>& members);

bool IsIdle(const Capture& capture, ProcessId process);

// Returns "rank 3", "rank 3 restart 1" or "no rank (pid 100)". A row of `--by rank` has this label. Several processes
// may have the same label.
std::string RankLabel(const ProcessSummary& process);
std::string RankLabel(const v1::ProcessInfo& info, bool is_rank);
// Returns RankLabel. If several processes have this label, appends the process id: "rank 3 (pid 100)".
std::string ProcessLabel(const Capture& capture, ProcessId process);

// Returns the coordinates of the process in its job, "pp 1, tp 0", for dimensions with more than one rank. Empty if
// they are unknown.
std::string DescribeCoordinates(const v1::ProcessInfo& info);

// Returns "0-3, 6".
std::string FormatRankList(const std::set<std::uint32_t>& ranks);

}  // namespace memoir

#endif  // TOOLS_MODEL_JOB_H_
