#include "tools/view/oom/out_of_memory_text.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/categories/category.h"
#include "tools/model/import_source.h"
#include "tools/model/job.h"
#include "tools/model/snapshot_trigger.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/device_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/oom/cause_text.h"
#include "tools/view/oom/fact_lines.h"
#include "tools/view/oom/holder_lists.h"
#include "tools/view/oom/remedy_text.h"
#include "tools/view/oom/requester_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

struct Detail {
  std::size_t top = 0;  // names in a list; 0: all of them
  bool grown_operators = true;
};

// Lists the rows that grew most. All other rows, including rows that shrank, are summed as "others".
std::string GrownList(const OutOfMemoryGrowth& growth, const std::vector<HoldingGrowth>& grown, std::size_t top) {
  std::string text;
  std::int64_t rest = growth.allocated;
  for (std::size_t i = 0; i < grown.size() && (top == 0 || i < top) && grown[i].bytes > 0; ++i) {
    text += (i == 0 ? "" : ", ") + QuotedHolder(grown[i].name) + " " + FormatSignedBytes(grown[i].bytes);
    rest -= grown[i].bytes;
  }
  if (rest != 0) text += (text.empty() ? "others " : ", others ") + FormatSignedBytes(rest);
  return text;
}

std::string TorchHoldings(const OutOfMemory& error) {
  std::string text = FormatBytes(error.allocated_bytes) + " allocated, ";
  if (error.room.waiting > 0)
    text += FormatBytes(error.room.waiting) + " freed but waiting for other streams (record_stream), ";
  text += HasNoCache(error) ? "no cache" : FormatBytes(error.reserved_bytes) + " reserved by torch";
  if (error.device_free_known) text += ", " + FormatBytes(error.device_free) + " free on the device";
  if (error.room.private_reserved > 0) {
    text += fmt::format("; private pools (CUDA graphs, MemPools) have {} of it reserved, {} allocated",
                        FormatBytes(error.room.private_reserved), FormatBytes(error.room.private_allocated));
  }
  return error.outside ? text : text + "; non-PyTorch memory: not recorded";
}

// Returns "2.9 GiB: NCCL 1.9 GiB, libcublas 0.6 GiB, context 0.4 GiB; other processes 3.0 GiB".
std::string OutsideHeld(const OutOfMemory& error, std::size_t top) {
  std::uint64_t bytes = 0;
  for (const HoldingRow& holder : *error.outside) bytes += holder.bytes;
  std::string text = bytes == 0 ? "nothing" : FormatBytes(bytes) + ": " + HolderList(*error.outside, top);
  if (error.other_processes.value_or(0) > 0) text += "; other processes " + FormatBytes(*error.other_processes);
  if (error.unaccounted > 0) text += "; without a known owner " + FormatBytes(error.unaccounted);
  return text;
}

// Returns "NCCL could not create a communicator" or "libforeign.so asked for 64.0 MiB (malloc)".
std::string RefusalText(const OutOfMemory& error) {
  const Refusal& refusal = *error.refusal;
  const std::string library = refusal.library.starts_with("libc10_cuda") ? "torch" : QuotedHolder(refusal.library);
  const std::string bytes = error.asked_bytes == 0 ? "memory" : FormatBytes(error.asked_bytes);
  switch (refusal.call) {
    case v1::COMMUNICATOR:
      return library + " could not create a communicator" + (error.asked_bytes == 0 ? "" : " of " + bytes);
    case v1::HANDLE:
      return library + " could not create a handle" + (error.asked_bytes == 0 ? "" : " of " + bytes);
    case v1::HOST_ALLOCATE:
      return library + " asked for " + bytes + " of pinned host memory";
    case v1::HOST_REGISTER:
      return library + " asked to pin " + bytes + " of host memory";
    default:
      return library + " asked for " + bytes + " (" + std::string(ToString(refusal.call)) + ")";
  }
}

std::string StepBefore(const OutOfMemoryGrowth& growth) {
  if (growth.kind == StepKind::kStep && growth.step) return fmt::format("step {}", *growth.step);
  return "the " + std::string(ToString(*growth.kind)) + " before";
}

std::string GrowthText(const OutOfMemory& error, const Detail& detail) {
  const OutOfMemoryGrowth& growth = error.growth;
  if (!growth.kind) return "no earlier step is recorded to compare with (memoir.step(), an optimizer, a module)";
  if (growth.first)
    return "it is the first " + std::string(ToString(*growth.kind)) + "; there is no earlier one to compare with";
  const std::string since =
      growth.same_call ? "since the same call of " + StepBefore(growth)
                       : "since the end of " + StepBefore(growth) +
                             (growth.unseen ? " (whose operators were not recorded)" : " (which made no such call)");
  std::string text = growth.allocated == 0 ? "allocated memory has not grown " + since
                                           : FormatSignedBytes(growth.allocated) + " allocated " + since;
  const std::string modules = GrownList(growth, growth.by_module, detail.top);
  const std::string operators = GrownList(growth, growth.by_operator, detail.top);
  if (!modules.empty()) text += ": " + modules;
  if (!operators.empty() && detail.grown_operators)
    text += (modules.empty() ? ": by operator: " : "; by operator: ") + operators;
  if (growth.reserved != 0) text += fmt::format("; {} reserved", FormatSignedBytes(growth.reserved));
  if (!growth.asked_then) return text;
  if (*growth.asked_then == error.asked_bytes) return text + "; that call asked for as much";
  return text + fmt::format("; that call asked for {}", FormatBytes(*growth.asked_then));
}

// Returns "; the program went on: 14 optimizer steps came after it".
std::string WentOn(const OutOfMemory& error) {
  if (error.steps_after == 0) return "";
  const std::string kind(ToString(*error.step_kind));
  return fmt::format("; the program went on: {} came after it", FormatCounted(error.steps_after, kind, kind + "s"));
}

bool HasModules(const OutOfMemory& error) {
  return std::ranges::any_of(error.by_module, [](const HoldingRow& holder) { return !holder.name.starts_with('('); });
}

std::string Headline(const Capture& capture, const OutOfMemory& error) {
  if (error.refusal) {
    return fmt::format("{} at {}: {}, in {}", DeviceLabel(capture, error.device, error.process), FormatMoment(error.ns),
                       RefusalText(error), RequestPlaceText(error)) +
           WentOn(error);
  }
  return fmt::format("{} at {}: {} asked for {}", DeviceLabel(capture, error.device, error.process),
                     FormatMoment(error.ns), RequestPlaceText(error), FormatBytes(error.asked_bytes)) +
         WentOn(error);
}

// Returns false if the category of all bytes is unknown.
bool HasCategories(const OutOfMemory& error) {
  return std::ranges::any_of(error.by_category,
                             [](const HoldingRow& holder) { return holder.name != ToString(Category::kUnknown); });
}

std::vector<OutOfMemoryFact> FactsOf(const OutOfMemory& error, const std::string& headline, const Detail& detail,
                                     const Summary& summary, const Terminal& terminal) {
  const std::size_t top = detail.top;
  const bool of_host = error.refusal && error.refusal->of_host;
  std::vector<OutOfMemoryFact> facts;
  const auto add = [&](std::string_view name, const std::string& text, int leaves_first, Color color = Color::kBold) {
    facts.push_back({FactLine(terminal, name, color, text), leaves_first});
  };
  add("out of memory", headline, 0, Color::kRed);
  if (error.line.known()) add("asked by", RequesterText(error), 0, Color::kRed);
  add("why", OutOfMemoryCauseText(error, top), 0, Color::kRed);
  if (!of_host) add("torch", TorchHoldings(error), 3);
  if (error.outside && !of_host) add("non-PyTorch", OutsideHeld(error, top), 2);
  if (of_host && error.by_operator.empty()) return facts;
  if (!error.by_operator.empty()) add("by operator", HolderList(error.by_operator, top), 1);
  if (HasModules(error)) add("by module", HolderList(LayersMerged(error.by_module), top), 4);
  if (HasCategories(error)) add("by category", HolderList(error.by_category, top), 0);
  const bool has_grown = error.growth.kind && !error.growth.first;
  if (!of_host) add("why now", GrowthText(error, detail), has_grown ? 5 : 1);
  if (const std::string helps = RemedyText(error, summary); !helps.empty()) add("what helps", helps, 0, Color::kRed);
  return facts;
}

// Returns the other processes that ran out of memory: "; also on ranks 1-3", "; also in 2 processes without a rank".
std::string OtherErrorsText(const Capture& capture, const std::vector<OutOfMemory>& errors, const OutOfMemory& shown) {
  std::set<std::uint32_t> ranks;
  std::set<ProcessId> unnumbered;
  for (const OutOfMemory& error : errors) {
    if (error.process == shown.process) continue;
    if (error.rank && error.rank != shown.rank) ranks.insert(*error.rank);
    if (!error.rank) unnumbered.insert(error.process);
  }
  std::string text;
  if (!ranks.empty())
    text = fmt::format("; also on {} {}", ranks.size() == 1 ? "rank" : "ranks", FormatRankList(ranks));
  if (!unnumbered.empty())
    text += "; also in " + FormatCounted(unnumbered.size(), "process", "processes") + " without a rank";
  return capture.processes().size() > 1 ? text : "";
}

// Describes errors that were counted, but that the summary does not contain. Empty if there are no such errors.
std::string RenderUnrecorded(const Capture& capture, const Summary& summary) {
  const std::size_t known = summary.out_of_memory.size();
  const std::uint64_t count = CountOutOfMemory(summary);
  if (count <= known) return "";
  const std::string all = FormatCounted(count, "out-of-memory error", "out-of-memory errors");
  if (known >= kMostOutOfMemory) return fmt::format("{}; shown are the newest {}", all, FormatCount(known));
  std::string off = RecordingWasOff(summary.report);
  if (off.empty() && IsSnapshot(capture)) off = "a snapshot has no events; its recording has them";
  return all + " counted by torch's allocator, " +
         (known == 0 ? "of which no details are recorded"
                     : fmt::format("{} of them without recorded details", FormatCount(count - known))) +
         ": " + (off.empty() ? "their events were dropped, or were in parts that are missing" : off);
}

}  // namespace

std::uint64_t CountOutOfMemory(const Summary& summary) {
  std::uint64_t counted = 0;
  for (const DeviceRow& device : summary.devices) counted += device.num_ooms;
  const auto recorded = static_cast<std::uint64_t>(std::ranges::count_if(
      summary.out_of_memory, [](const OutOfMemory& error) { return !error.refusal.has_value(); }));
  return summary.out_of_memory.size() + (counted > recorded ? counted - recorded : 0);
}

std::string RenderOutOfMemory(const Capture& capture, const Summary& summary, std::size_t lines, std::string_view more,
                              const Terminal& terminal) {
  if (summary.out_of_memory.empty()) {
    const std::string unrecorded = RenderUnrecorded(capture, summary);
    return unrecorded.empty() ? "" : FactLine(terminal, "out of memory", Color::kRed, unrecorded);
  }
  const OutOfMemory& error = DecisiveError(summary.out_of_memory);
  std::string headline = Headline(capture, error);
  const auto own =
      static_cast<std::uint64_t>(std::ranges::count(summary.out_of_memory, error.process, &OutOfMemory::process));
  if (own > 1) headline += fmt::format("; the last of {}", own);
  headline += OtherErrorsText(capture, summary.out_of_memory, error);
  std::vector<OutOfMemoryFact> facts;
  for (const Detail& detail : {Detail{3, true}, Detail{3, false}, Detail{2, false}, Detail{1, false}}) {
    facts = FactsOf(error, headline, detail, summary, terminal);
    if (FitsInLines(facts, lines)) break;
  }
  return FitInLines(std::move(facts), lines,
                    more.empty() ? "" : FactLine(terminal, "", Color::kBold, std::string(more)));
}

std::string RenderOutOfMemoryErrors(const Capture& capture, const Summary& summary, std::size_t top,
                                    const Terminal& terminal) {
  std::string text = RenderUnrecorded(capture, summary);
  if (!text.empty()) text = Wrapped(text, terminal.width, 0) + "\n";
  for (const OutOfMemory& error : summary.out_of_memory)
    text += "\n" + JoinFacts(FactsOf(error, Headline(capture, error), {top, true}, summary, terminal));
  return text;
}

std::string WhyOutOfMemoryIsNotKnown(const Capture& capture, const ReplayReport& report) {
  if (std::ranges::any_of(capture.processes(), HasNoHistory)) return "the snapshot has no history";
  const std::string off = RecordingWasOff(report);
  return off.empty() ? CudaMemoryNotKnown(report) : off;
}

std::string NoOutOfMemoryKnown(const Capture& capture, const ReplayReport& report) {
  const std::string unknown = WhyOutOfMemoryIsNotKnown(capture, report);
  return unknown.empty() ? "no out-of-memory error" : "no out-of-memory error is recorded, but " + unknown;
}

std::string RenderNoOutOfMemory(const Capture& capture, const Summary& summary, const Terminal& terminal) {
  const std::string none = NoOutOfMemoryKnown(capture, summary.report);
  std::string text;
  for (const DeviceRow& device : summary.devices) {
    if (!device.caching) continue;
    const std::string line = fmt::format(
        "{}: {}: at most {} allocated, {} reserved, {}; {}", DeviceLabel(capture, device.name, device.process), none,
        FormatBytes(device.peak_allocated_bytes), FormatBytes(device.peak_reserved_bytes), RetriesText(device),
        device.least_free ? fmt::format("at least {} of {} were free", FormatBytes(*device.least_free),
                                        FormatBytes(device.total_bytes))
                          : "the device's free memory is not recorded");
    text += Wrapped(line, terminal.width, 0) + "\n";
  }
  if (!text.empty()) return text;
  return Wrapped(none + ": no allocation of torch's CUDA allocator is recorded", terminal.width, 0) + "\n";
}

}  // namespace memoir
