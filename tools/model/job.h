// The processes of a capture as one job: which ranks are there, which are missing, what each process is called.
//
// A process without events that is no rank of its own (a launcher, a compiler's worker, what only imported torch) is
// idle: it stays in Capture::processes(), and no text speaks of it.
#ifndef TOOLS_MODEL_JOB_H_
#define TOOLS_MODEL_JOB_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/model/capture.h"

namespace memoir {

// A job whose launcher started it anew has several.
struct Attempt {
  std::uint32_t restart = 0;
  std::uint32_t world_size = 0;  // 0: unknown
  std::set<std::uint32_t> ranks;
  std::set<std::uint32_t> missing;  // of world_size
  std::set<std::uint32_t> twice;    // that several processes say they are
};

struct Job {
  std::vector<Attempt> attempts;  // by restart; empty where nobody is numbered
  std::size_t processes = 0;      // that are not idle
  std::size_t without_rank = 0;   // of these: beside the ranks
  std::set<std::string> hosts;
};

Job DescribeJob(const Capture& capture);

// The same of processes that are known by other means, and none of which is idle.
struct JobMember {
  const v1::ProcessInfo* info = nullptr;
  bool is_rank = true;
};
Job DescribeJob(const std::vector<JobMember>& members);

bool IsIdle(const Capture& capture, ProcessId process);

// "rank 3", "rank 3 restart 1"; "no rank (pid 100)". What `--by rank` has a row for: processes may share it.
std::string RankLabel(const ProcessSummary& process);
std::string RankLabel(const v1::ProcessInfo& info, bool is_rank);
// The same, with the process id where processes share it: "rank 3 (pid 100)".
std::string ProcessLabel(const Capture& capture, ProcessId process);

// Where it stands among the job's: "pp 1, tp 0", of dimensions of more than one rank; "": not known.
std::string PlaceOf(const v1::ProcessInfo& info);

// "0-3, 6": ranks of a job are mostly a range.
std::string RankList(const std::set<std::uint32_t>& ranks);

}  // namespace memoir

#endif  // TOOLS_MODEL_JOB_H_
