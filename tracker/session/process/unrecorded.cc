#include "tracker/session/process/unrecorded.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "interpose/cuda/driver_watch.h"
#include "tracker/cupti/kernel_times.h"
#include "tracker/session/process/terminal_line.h"
#include "tracker/stacks/stack_recorder.h"
#include "tracker/torch/hooks.h"

namespace memoir {
namespace {

// Returns the gaps in the recording of CUDA memory. Reads the gaps again if CudaGapChanges shows that one has changed
// meanwhile.
std::vector<UnrecordedEvents> FindCudaGaps() {
  CudaGap gaps[kMostCudaGaps];
  std::size_t count = 0;
  std::uint32_t changes = 0;
  do {
    changes = CudaGapChanges();
    count = CudaGaps(gaps);
  } while (changes != CudaGapChanges());
  std::vector<UnrecordedEvents> found;
  found.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    found.push_back({UnrecordedEvents::Kind::kCudaMemory, gaps[i].begin_tick, gaps[i].end_tick, gaps[i].why});
  return found;
}

std::string WhyCallsBypass(const UnwrappedCalls& calls) {
  if (calls.functions == 0)
    return "the system refused to make " + std::to_string(calls.refused) + " import slots writable";
  std::string why = "more than 4 of the loaded libraries define " + std::string(calls.function);
  if (calls.functions > 1) why += " and " + std::to_string(calls.functions - 1) + " other functions";
  return why + ": only calls of the first 4 are recorded";
}

}  // namespace

std::vector<UnrecordedEvents> FindUnrecorded() {
  std::vector<UnrecordedEvents> found;
  // Kernel times come first, because the session prints only the first entry, and the user has requested kernel times.
  std::uint64_t times_since = 0;
  if (std::string problem = KernelTimesProblem(&times_since); !problem.empty())
    found.push_back({UnrecordedEvents::Kind::kKernelTimes, times_since, 0, std::move(problem)});
  std::ranges::move(FindCudaGaps(), std::back_inserter(found));
  const UnwrappedCalls calls = CountUnwrappedCalls();
  if (calls.functions + calls.refused > 0)
    found.push_back({UnrecordedEvents::Kind::kDriverCalls, calls.since_tick, 0, WhyCallsBypass(calls)});
  if (const char* problem = StacksProblem(); *problem != '\0')
    found.push_back({UnrecordedEvents::Kind::kPythonStacks, StacksSince(), 0, problem});
  if (const char* problem = NativeFramesProblem(); *problem != '\0')
    found.push_back({UnrecordedEvents::Kind::kNativeStacks, StacksSince(), 0, problem});
  return found;
}

bool AddLateSources(ProcessFacts* facts) {
  const auto add = [&](const char* source, bool is_there) {
    if (!is_there || std::ranges::find(facts->sources, source) != facts->sources.end()) return false;
    facts->sources.emplace_back(source);
    return true;
  };
  const bool memory = add("cuda-device-level", CudaIsAtDeviceLevel());
  return add("kernel-times", KernelTimesAreRecorded()) || memory;
}

// `facts` is changed only after the writer has the new list. If memory runs out earlier, the next call tries again.
bool TakeUnrecorded(ProcessFacts* facts, Writer* writer) {
  std::vector<UnrecordedEvents> now = FindUnrecorded();
  ProcessFacts newer = *facts;
  const bool news = now != facts->unrecorded;
  if (!AddLateSources(&newer) && !news) return false;
  newer.unrecorded = std::move(now);
  writer->SetProcess(newer);
  *facts = std::move(newer);
  return news && !facts->unrecorded.empty();
}

std::string UnrecordedLine(const UnrecordedEvents& unrecorded) {
  if (unrecorded.kind == UnrecordedEvents::Kind::kPythonStacks)
    return "Python stacks are not recorded: " + unrecorded.why + "; --stacks off hides this line";
  if (unrecorded.kind == UnrecordedEvents::Kind::kNativeStacks)
    return "native frames are not recorded: " + unrecorded.why + "; --stacks python hides this line";
  if (unrecorded.kind == UnrecordedEvents::Kind::kKernelTimes)
    return "how long kernels run is not recorded: " + unrecorded.why + "; all else of --kernels is";
  const bool memory = unrecorded.kind == UnrecordedEvents::Kind::kCudaMemory;
  return (memory ? "CUDA memory is not known for now: " : "some calls of CUDA's libraries are not recorded: ") +
         unrecorded.why + (memory ? "; tried again while the program allocates" : "");
}

void PrintUnpublished(bool is_reporting, bool is_last) {
  for (const char* line : {TakePublicationProblem(), is_last ? TakeUnpublished() : nullptr}) {
    if (line != nullptr && is_reporting) PrintLine("%s", line);
  }
}

std::string DescribeLosses(const WriterStatus& status, std::uint64_t late) {
  const std::string& why = status.last_write_error;
  if (status.lost_events > 0) return std::to_string(status.lost_events) + " events could not be written: " + why;
  if (status.lost_chunks > 0) return "the newest part may be incomplete: " + why;
  if (late == 0) return "";
  return std::to_string(late) + " records are not in the capture: " +
         (why.empty() ? "they came after its end; stop when no other thread runs operators" : why);
}

std::string DescribeBusySession() {
  return "the recording was not ended: another thread has been starting or changing it for 5 s; the missing events are "
         "added when the capture is read on this machine after the process has ended";
}

std::string DescribeUnwritten(const std::string& folder, const std::string& ring) {
  return "the end of the recording is not in the capture: nothing could be written to " + folder +
         " for 30 s, and the program does not wait longer; the missing events are in " + ring +
         ", and are added when the capture is read on this machine after the process has ended";
}

}  // namespace memoir
