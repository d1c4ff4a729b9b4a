#include "tools/view/oom/cause_text.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/pool_text.h"
#include "tools/view/oom/holder_lists.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Names the owner of most of the device's memory.
std::string Hoarder(const OutOfMemory& error) {
  HoldingRow most;
  if (error.outside && !error.outside->empty()) most = error.outside->front();
  const bool others = error.other_processes.value_or(0) > most.bytes;
  if (others) most = {"other processes", *error.other_processes, 0};
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
                         : QuotedHolder(most.name) + (others ? " hold " : " holds ") + FormatBytes(most.bytes) + of;
}

std::string RefusalCauseText(const OutOfMemory& error, std::size_t top) {
  if (error.refusal->of_host) {
    return error.pinned.empty() ? "HOST memory was refused; this process had pinned none"
                                : "HOST memory was refused; pinned by this process: " + HolderList(error.pinned, top);
  }
  const std::string left = error.device_free_known ? "the device had " + FormatBytes(error.device_free) + " free"
                                                   : "free memory of the device not known";
  return left + ": " + Hoarder(error);
}

std::string FreeForIt(const OutOfMemoryRoom& room) {
  if (room.own_free == 0) return "its pool and stream have no free memory";
  return fmt::format("its pool and stream have {} free in {}, the largest {}", FormatBytes(room.own_free),
                     FormatCounted(room.own_holes, "hole", "holes"), FormatBytes(room.largest_hole));
}

std::string FreeElsewhereText(const OutOfMemoryRoom& room) {
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

std::string Pins(const OutOfMemoryRoom& room, std::size_t top) {
  if (room.pinned_by.empty()) return "";
  std::uint64_t blocks = 0;
  for (const HoldingRow& holder : room.pinned_by) blocks += holder.blocks;
  return fmt::format("; live between the holes: {} of {}", FormatCounted(blocks, "block", "blocks"),
                     HolderList(room.pinned_by, top));
}

// Returns "serve.py:31 holds most, 18.2 GiB (input) of 20.4 GiB allocated". If an owner outside of torch has more
// memory than torch, names that owner.
std::string LargestHolder(const OutOfMemory& error) {
  std::uint64_t outside = std::max(error.unaccounted, error.other_processes.value_or(0));
  if (error.outside && !error.outside->empty()) outside = std::max(outside, error.outside->front().bytes);
  if (error.by_line.empty() || outside > error.reserved_bytes) return Hoarder(error);
  const LineHolding& largest = error.by_line.front();
  constexpr std::size_t kNameInLine = 40;
  const std::string name =
      largest.line.known() ? ShownPlace(largest.line, kNameInLine) : QuotedHolder(largest.operator_name);
  return fmt::format("{} holds most, {} ({}) of {} allocated", name, FormatBytes(largest.bytes),
                     LabelOfCategory(largest.category), FormatBytes(error.allocated_bytes));
}

// Describes how many bytes were missing, or how much memory was free only in small pieces.
std::string ShortageText(const OutOfMemory& error) {
  const OutOfMemoryRoom& room = error.room;
  const std::uint64_t free = room.free + error.device_free;
  if (free >= error.asked_bytes) {
    return fmt::format("Only small pieces were free: {} of torch's {} reserved and {} of the device.",
                       FormatBytes(room.free), FormatBytes(error.reserved_bytes), FormatBytes(error.device_free));
  }
  return fmt::format("{} lacking, even with all that torch ({}) and the device ({}) had free. No fragmentation: {}.",
                     FormatBytes(error.asked_bytes - free), FormatBytes(room.free), FormatBytes(error.device_free),
                     FreeForIt(room));
}

}  // namespace

bool HasNoCache(const OutOfMemory& error) { return error.reserved_bytes == 0 && error.allocated_bytes > 0; }

std::string OutOfMemoryCauseText(const OutOfMemory& error, std::size_t top) {
  const OutOfMemoryRoom& room = error.room;
  const std::string from = room.pool.is_private() ? " The request was to " + PoolName(room.pool) + "." : "";
  switch (room.cause) {
    case OutOfMemoryCause::kFragmentation:
      return "FRAGMENTATION: " + FreeForIt(room) +
             (room.own_free >= error.asked_bytes
                  ? ""
                  : ", together with the device's free memory enough, but not in one piece") +
             Pins(room, top) + "." + from;
    case OutOfMemoryCause::kLimit:
      return fmt::format(
          "LIMIT: the device had {} free, but torch may not reserve {} more than the {} that it has{} "
          "(set_per_process_memory_fraction). No fragmentation: {}.{}",
          FormatBytes(error.device_free), FormatBytes(room.needed_segment), FormatBytes(error.reserved_bytes),
          error.device_limit ? ", at most " + FormatBytes(*error.device_limit) + " in all" : "", FreeForIt(room), from);
    case OutOfMemoryCause::kRefused:
      if (error.refusal) return RefusalCauseText(error, top);
      return fmt::format("REFUSED by the driver, although it reports {} free and torch may reserve {}.{}",
                         FormatBytes(error.device_free), FormatBytes(error.device_limit.value_or(0)), from);
    case OutOfMemoryCause::kOtherPools:
      return fmt::format("free, but ELSEWHERE: {}; {}.{}", FreeElsewhereText(room), FreeForIt(room), from);
    case OutOfMemoryCause::kTooLarge:
      return fmt::format("TOO LARGE: more than all that torch had reserved and the device had free, {} together.{}",
                         FormatBytes(error.reserved_bytes + error.device_free), from);
    case OutOfMemoryCause::kFull:
      break;
  }
  return "FULL: " + LargestHolder(error) + ". " + ShortageText(error) + from;
}

}  // namespace memoir
