#include "tracker/session/unrecorded.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "interpose/cuda/driver_watch.h"
#include "tracker/cupti/kernel_times.h"
#include "tracker/session/terminal_line.h"
#include "tracker/stacks/stack_recorder.h"
#include "tracker/torch/hooks.h"

namespace memoir {
namespace {

// A gap may be opened while it is read; then the count of changes says so.
std::vector<Unrecorded> FindCudaGaps() {
  CudaGap gaps[kMostCudaGaps];
  std::size_t count = 0;
  std::uint32_t changes = 0;
  do {
    changes = CudaGapChanges();
    count = CudaGaps(gaps);
  } while (changes != CudaGapChanges());
  std::vector<Unrecorded> found;
  found.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    found.push_back({Unrecorded::What::kCudaMemory, gaps[i].begin_tick, gaps[i].end_tick, gaps[i].why});
  return found;
}

std::string WhyCallsPass(const PassedCalls& calls) {
  if (calls.functions == 0)
    return "the system refused to make " + std::to_string(calls.refused) + " import slots writable";
  std::string why = "more than 4 of the loaded libraries define " + std::string(calls.function);
  if (calls.functions > 1) why += " and " + std::to_string(calls.functions - 1) + " other functions";
  return why + ": calls of the fifth are not seen";
}

}  // namespace

std::vector<Unrecorded> FindUnrecorded() {
  std::vector<Unrecorded> found;
  std::uint64_t times_since = 0;  // asked for: the first to be said
  if (std::string problem = KernelTimesProblem(&times_since); !problem.empty())
    found.push_back({Unrecorded::What::kKernelTimes, times_since, 0, std::move(problem)});
  std::ranges::move(FindCudaGaps(), std::back_inserter(found));
  const PassedCalls calls = CountPassedCalls();
  if (calls.functions + calls.refused > 0)
    found.push_back({Unrecorded::What::kDriverCalls, calls.since_tick, 0, WhyCallsPass(calls)});
  if (const char* problem = StacksProblem(); *problem != '\0')
    found.push_back({Unrecorded::What::kPythonStacks, StacksSince(), 0, problem});
  if (const char* problem = NativeFramesProblem(); *problem != '\0')
    found.push_back({Unrecorded::What::kNativeStacks, StacksSince(), 0, problem});
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

// What is new counts as known when the capture has it: without memory the next look tries again.
bool TakeUnrecorded(ProcessFacts* facts, Writer* writer) {
  std::vector<Unrecorded> now = FindUnrecorded();
  ProcessFacts newer = *facts;
  const bool news = now != facts->unrecorded;
  if (!AddLateSources(&newer) && !news) return false;
  newer.unrecorded = std::move(now);
  writer->SetProcess(newer);
  *facts = std::move(newer);
  return news && !facts->unrecorded.empty();
}

std::string UnrecordedLine(const Unrecorded& unrecorded) {
  if (unrecorded.what == Unrecorded::What::kPythonStacks)
    return "Python stacks are not recorded: " + unrecorded.why + "; --stacks off hides this line";
  if (unrecorded.what == Unrecorded::What::kNativeStacks)
    return "native frames are not recorded: " + unrecorded.why + "; --stacks python hides this line";
  if (unrecorded.what == Unrecorded::What::kKernelTimes)
    return "how long kernels run is not recorded: " + unrecorded.why + "; all else of --kernels is";
  const bool memory = unrecorded.what == Unrecorded::What::kCudaMemory;
  return (memory ? "CUDA memory is not known for now: " : "some calls of CUDA's libraries are not recorded: ") +
         unrecorded.why + (memory ? "; tried again while the program allocates" : "");
}

void SayUnpublished(bool speaks, bool is_last) {
  for (const char* line : {TakePublicationProblem(), is_last ? TakeUnpublished() : nullptr}) {
    if (line != nullptr && speaks) SayLine("%s", line);
  }
}

std::string Losses(const WriterStatus& status, std::uint64_t late) {
  const std::string& why = status.last_write_error;
  if (status.lost_events > 0) return std::to_string(status.lost_events) + " events could not be written: " + why;
  if (status.lost_chunks > 0) return "the newest part may be incomplete: " + why;
  if (late == 0) return "";
  return std::to_string(late) + " records are not in the capture: " +
         (why.empty() ? "they came after its end; stop when no other thread runs operators" : why);
}

}  // namespace memoir
