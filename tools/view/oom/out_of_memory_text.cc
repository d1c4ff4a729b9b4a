#include "tools/view/oom/out_of_memory_text.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/categories/category.h"
#include "tools/model/imported.h"
#include "tools/model/job.h"
#include "tools/model/snapshots.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/device_text.h"
#include "tools/view/capture/pool_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/oom/asker_text.h"
#include "tools/view/oom/fact_lines.h"
#include "tools/view/oom/holder_lists.h"
#include "tools/view/oom/remedy_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

struct Detail {
  std::size_t top = 0;  // names in a list; 0: all
  bool grown_operators = true;
};

// What grew most; the rest, also what shrank, as one.
std::string GrownList(const Growth& growth, const std::vector<Grown>& grown, std::size_t top) {
  std::string text;
  std::int64_t rest = growth.allocated;
  for (std::size_t i = 0; i < grown.size() && (top == 0 || i < top) && grown[i].bytes > 0; ++i) {
    text += (i == 0 ? "" : ", ") + Named(grown[i].name) + " " + FormatSignedBytes(grown[i].bytes);
    rest -= grown[i].bytes;
  }
  if (rest != 0) text += (text.empty() ? "others " : ", others ") + FormatSignedBytes(rest);
  return text;
}

// cudaMallocAsync, a pluggable allocator, no cache: torch reserves nothing beside what it has allocated.
bool HasNoCache(const OutOfMemory& error) { return error.reserved_bytes == 0 && error.allocated_bytes > 0; }

std::string TorchHeld(const OutOfMemory& error) {
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

// "2.9 GiB: NCCL 1.9 GiB, libcublas 0.6 GiB, context 0.4 GiB; other processes 3.0 GiB"
std::string OutsideHeld(const OutOfMemory& error, std::size_t top) {
  std::uint64_t bytes = 0;
  for (const Holder& holder : *error.outside) bytes += holder.bytes;
  std::string text = bytes == 0 ? "nothing" : FormatBytes(bytes) + ": " + HolderList(*error.outside, top);
  if (error.other_processes.value_or(0) > 0) text += "; other processes " + FormatBytes(*error.other_processes);
  if (error.unaccounted > 0) text += "; without a known owner " + FormatBytes(error.unaccounted);
  return text;
}

// Who has most of the device.
std::string Hoarder(const OutOfMemory& error) {
  Holder most;
  if (error.outside && !error.outside->empty()) most = error.outside->front();
  if (error.other_processes.value_or(0) > most.bytes) most = {"other processes", *error.other_processes, 0};
  const std::string of = error.device_total ? " of " + FormatBytes(*error.device_total) : "";
  if (error.unaccounted > std::max(most.bytes, error.reserved_bytes))
    return FormatBytes(error.unaccounted) + of + " have no known owner";
  if (HasNoCache(error) && error.allocated_bytes >= most.bytes)
    return fmt::format("torch has allocated {}{}", FormatBytes(error.allocated_bytes), of);
  if (error.reserved_bytes >= most.bytes && error.reserved_bytes > 0) {
    return fmt::format("torch reserves {}{}, of which {} is cache", FormatBytes(error.reserved_bytes), of,
                       FormatBytes(error.reserved_bytes - std::min(error.reserved_bytes, error.active_bytes)));
  }
  return most.bytes == 0 ? "the owners of the rest are not recorded"
                         : Named(most.name) + " holds " + FormatBytes(most.bytes) + of;
}

std::string WhyRefused(const OutOfMemory& error, std::size_t top) {
  if (error.refusal->of_host) {
    return error.pinned.empty() ? "HOST memory was refused; this process had pinned none"
                                : "HOST memory was refused; pinned by this process: " + HolderList(error.pinned, top);
  }
  const std::string left = error.device_free_known ? "the device had " + FormatBytes(error.device_free) + " free"
                                                   : "free memory of the device not known";
  return left + ": " + Hoarder(error);
}

// "NCCL could not create a communicator", "libforeign.so asked for 64.0 MiB (malloc)"
std::string WhatWasRefused(const OutOfMemory& error) {
  const Refusal& refusal = *error.refusal;
  const std::string library = refusal.library.starts_with("libc10_cuda") ? "torch" : Named(refusal.library);
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

std::string FreeForIt(const Room& room) {
  if (room.own_free == 0) return "its pool and stream have no free memory";
  return fmt::format("its pool and stream have {} free in {}, the largest {}", FormatBytes(room.own_free),
                     FormatCounted(room.own_holes, "hole", "holes"), FormatBytes(room.largest_hole));
}

std::string Elsewhere(const Room& room) {
  std::string text;
  const auto add = [&](std::uint64_t bytes, const std::string& where) {
    if (bytes > 0) text += (text.empty() ? "" : ", ") + FormatBytes(bytes) + " " + where;
  };
  add(room.other_pool_free, room.pool.is_private() ? "in other pools" : "in private pools (CUDA graphs, MemPools)");
  add(room.other_stream_free, "in blocks of other streams");
  add(room.other_size_free,
      room.small ? "in segments for requests above 1 MiB" : "in segments for requests up to 1 MiB");
  return text;
}

std::string Pins(const Room& room, std::size_t top) {
  if (room.pinned_by.empty()) return "";
  std::uint64_t blocks = 0;
  for (const Holder& holder : room.pinned_by) blocks += holder.blocks;
  return fmt::format("; live between the holes: {} of {}", FormatCounted(blocks, "block", "blocks"),
                     HolderList(room.pinned_by, top));
}

std::string Why(const OutOfMemory& error, std::size_t top) {
  const Room& room = error.room;
  const std::string from = room.pool.is_private() ? " The request was to " + PoolName(room.pool) + "." : "";
  switch (room.cause) {
    case OutOfMemoryCause::kFragmentation:
      return "FRAGMENTATION: " + FreeForIt(room) +
             (room.own_free >= error.asked_bytes ? ""
                                                 : ", enough with the device's free memory, but not in one piece") +
             Pins(room, top) + "." + from;
    case OutOfMemoryCause::kLimit:
      return fmt::format(
          "LIMIT: the device had {} free, but torch may not reserve {} more than the {} that it has{} "
          "(set_per_process_memory_fraction). No fragmentation: {}.{}",
          FormatBytes(error.device_free), FormatBytes(room.needed_segment), FormatBytes(error.reserved_bytes),
          error.device_limit ? ", at most " + FormatBytes(*error.device_limit) + " in all" : "", FreeForIt(room), from);
    case OutOfMemoryCause::kRefused:
      if (error.refusal) return WhyRefused(error, top);
      return fmt::format("REFUSED by the driver, although it reports {} free and torch may reserve {}.{}",
                         FormatBytes(error.device_free), FormatBytes(error.device_limit.value_or(0)), from);
    case OutOfMemoryCause::kOtherPools:
      return fmt::format("free, but ELSEWHERE: {}; {}.{}", Elsewhere(room), FreeForIt(room), from);
    case OutOfMemoryCause::kTooLarge:
      return fmt::format("TOO LARGE: more than all that torch had reserved and the device had free, {} together.{}",
                         FormatBytes(error.reserved_bytes + error.device_free), from);
    case OutOfMemoryCause::kFull:
      break;
  }
  const std::uint64_t lacking = error.asked_bytes - std::min(error.asked_bytes, room.free + error.device_free);
  return fmt::format(
      "FULL: {} lacking, even with all that torch ({}) and the device ({}) had free. No fragmentation: {}.{}",
      FormatBytes(lacking), FormatBytes(room.free), FormatBytes(error.device_free), FreeForIt(room), from);
}

std::string StepBefore(const Growth& growth) {
  if (growth.kind == StepKind::kStep && growth.step) return fmt::format("step {}", *growth.step);
  return "the " + std::string(ToString(*growth.kind)) + " before";
}

std::string WhyNow(const OutOfMemory& error, const Detail& detail) {
  const Growth& growth = error.growth;
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

// "; the program went on: 14 optimizer steps came after it"
std::string WentOn(const OutOfMemory& error) {
  if (error.steps_after == 0) return "";
  const std::string kind(ToString(*error.step_kind));
  return fmt::format("; the program went on: {} came after it", FormatCounted(error.steps_after, kind, kind + "s"));
}

bool HasModules(const OutOfMemory& error) {
  return std::ranges::any_of(error.by_module, [](const Holder& holder) { return !holder.name.starts_with('('); });
}

std::string Headline(const Capture& capture, const OutOfMemory& error) {
  if (error.refusal) {
    return fmt::format("{} at {}: {}, in {}", DeviceLabel(capture, error.device, error.process), FormatMoment(error.ns),
                       WhatWasRefused(error), Place(error)) +
           WentOn(error);
  }
  return fmt::format("{} at {}: {} asked for {}", DeviceLabel(capture, error.device, error.process),
                     FormatMoment(error.ns), Place(error), FormatBytes(error.asked_bytes)) +
         WentOn(error);
}

// Nothing but unknown says nothing.
bool HasCategories(const OutOfMemory& error) {
  return std::ranges::any_of(error.by_category,
                             [](const Holder& holder) { return holder.name != ToString(Category::kUnknown); });
}

std::vector<Fact> FactsOf(const OutOfMemory& error, const std::string& headline, const Detail& detail,
                          const Summary& summary, const Terminal& terminal) {
  const std::size_t top = detail.top;
  const bool of_host = error.refusal && error.refusal->of_host;
  std::vector<Fact> facts;
  const auto add = [&](std::string_view name, const std::string& text, int leaves_first) {
    facts.push_back({FactLine(terminal, name, leaves_first == 0 ? Color::kRed : Color::kBold, text), leaves_first});
  };
  add("out of memory", headline, 0);
  if (error.line.known()) add("asked by", AskedBy(error), 0);
  add("why", Why(error, top), 0);
  if (!of_host) add("torch", TorchHeld(error), 3);
  if (error.outside && !of_host) add("non-PyTorch", OutsideHeld(error, top), 2);
  if (of_host && error.by_operator.empty()) return facts;
  if (!error.by_operator.empty()) add("by operator", HolderList(error.by_operator, top), 1);
  if (HasModules(error)) add("by module", HolderList(LayersMerged(error.by_module), top), 4);
  if (HasCategories(error)) add("by category", HolderList(error.by_category, top), 6);
  const bool has_grown = error.growth.kind && !error.growth.first;
  if (!of_host) add("why now", WhyNow(error, detail), has_grown ? 5 : 1);
  if (const std::string helps = WhatHelps(error, summary); !helps.empty()) add("what helps", helps, 0);
  return facts;
}

// "; also on ranks 1-3", "; 2 more processes": who else ran out.
std::string Others(const Capture& capture, const std::vector<OutOfMemory>& errors, const OutOfMemory& shown) {
  std::set<std::uint32_t> ranks;
  std::set<ProcessId> unnumbered;
  for (const OutOfMemory& error : errors) {
    if (error.process == shown.process) continue;
    if (error.rank && error.rank != shown.rank) ranks.insert(*error.rank);
    if (!error.rank) unnumbered.insert(error.process);
  }
  std::string text;
  if (!ranks.empty()) text = fmt::format("; also on {} {}", ranks.size() == 1 ? "rank" : "ranks", RankList(ranks));
  if (!unnumbered.empty())
    text += "; also in " + FormatCounted(unnumbered.size(), "process", "processes") + " without a rank";
  return capture.processes().size() > 1 ? text : "";
}

// What is known of the errors that were counted, but not recorded: their number.
std::string RenderUnrecorded(const Capture& capture, const Summary& summary) {
  const std::size_t known = summary.out_of_memory.size();
  const std::uint64_t count = CountOutOfMemory(summary);
  if (count <= known) return "";
  const std::string all = FormatCounted(count, "out-of-memory error", "out-of-memory errors");
  if (known >= kMostOutOfMemory) return fmt::format("{}; shown are the newest {}", all, FormatCount(known));
  std::string off = RecordingWasOff(summary.report);
  if (off.empty() && IsSnapshot(capture)) off = "a snapshot has no events; the recording that it is of has them";
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
  headline += Others(capture, summary.out_of_memory, error);
  std::vector<Fact> facts;
  for (const Detail& detail : {Detail{3, true}, Detail{3, false}, Detail{2, false}, Detail{1, false}}) {
    facts = FactsOf(error, headline, detail, summary, terminal);
    if (Fit(facts, lines)) break;
  }
  return Fitted(std::move(facts), lines, more.empty() ? "" : FactLine(terminal, "", Color::kBold, std::string(more)));
}

std::string RenderOutOfMemoryErrors(const Capture& capture, const Summary& summary, std::size_t top,
                                    const Terminal& terminal) {
  std::string text = RenderUnrecorded(capture, summary);
  if (!text.empty()) text = Wrapped(text, terminal.width, 0) + "\n";
  for (const OutOfMemory& error : summary.out_of_memory)
    text += "\n" + Together(FactsOf(error, Headline(capture, error), {top, true}, summary, terminal));
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
