#include "tools/analyze/compiled/compiled_frames.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

constexpr std::string_view kRegion = "Torch-Compiled Region";

// Returns "1/0" for "Torch-Compiled Region: 1/0". Empty if the region has no number.
std::string_view IdOfRegion(std::string_view name) {
  name.remove_prefix(std::min(name.size(), kRegion.size() + 2));
  return name;
}

// Returns the sort key of a compilation, its two numbers: "2/0" comes before "10/0".
std::pair<std::uint64_t, std::uint64_t> Numbers(std::string_view id) {
  std::pair<std::uint64_t, std::uint64_t> numbers{~std::uint64_t{0}, 0};
  const auto frame = std::from_chars(id.data(), id.data() + id.size(), numbers.first);
  if (frame.ec != std::errc() || frame.ptr == id.data() + id.size()) return numbers;
  std::from_chars(frame.ptr + 1, id.data() + id.size(), numbers.second);
  return numbers;
}

// The blocks that a thread allocates while torch.compile works on this thread, that is, within the outermost compile
// event.
struct CompilingThread {
  struct DeviceSums {
    std::uint64_t live = 0, peak = 0;
  };
  absl::flat_hash_map<DeviceId, DeviceSums> devices;
  absl::flat_hash_map<std::uint32_t, std::pair<DeviceId, std::uint64_t>> blocks;  // live, by Block::slot
};

class CompiledPass : public WindowedVisitor {
 public:
  CompiledPass(const Capture& capture, const Selection& selection, const BlockCategories& categories)
      : WindowedVisitor(capture, selection), categories_(categories) {}
  CompiledFrames Take() { return std::move(result_); }

 protected:
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeProcessEnd(const ProcessEvent&) override {
    threads_.clear();
    thread_of_.clear();
  }

 private:
  // Returns the frame, and adds it if it is missing. nullptr if there are already kMost frames.
  CompiledFrame* FrameOf(ProcessId process, std::string_view id);
  CompiledBytes& BytesOf(CompiledFrame& frame, DeviceId device);
  void Note(const Event& event, const Compilation& compilation);
  void NoteBreak(const Compilation& compilation);

  const BlockCategories& categories_;
  CompiledFrames result_;
  absl::flat_hash_map<std::pair<ProcessId, std::string>, std::size_t> frames_;
  absl::flat_hash_map<std::string, std::size_t> breaks_;
  absl::flat_hash_map<ThreadId, CompilingThread> threads_;
  // The thread that allocated each live block of CompilingThread::blocks, by Block::slot.
  absl::flat_hash_map<std::uint32_t, ThreadId> thread_of_;
};

CompiledFrame* CompiledPass::FrameOf(ProcessId process, std::string_view id) {
  const auto [known, added] = frames_.try_emplace({process, std::string(id)}, result_.frames.size());
  if (!added) return &result_.frames[known->second];
  if (result_.frames.size() == CompiledFrames::kMost) {
    frames_.erase(known);
    ++result_.left_out;
    return nullptr;
  }
  CompiledFrame& frame = result_.frames.emplace_back();
  frame.process = process;
  frame.rank = capture().processes()[process.value].rank();
  frame.id = id;
  return &frame;
}

CompiledBytes& CompiledPass::BytesOf(CompiledFrame& frame, DeviceId device) {
  const std::string name = ToString(state().dictionary().device(device));
  const auto known = std::ranges::find(frame.by_device, name, &CompiledBytes::device);
  if (known != frame.by_device.end()) return *known;
  CompiledBytes& bytes = frame.by_device.emplace_back();
  bytes.device = name;
  bytes.caching = state().memory(device).caching();
  return bytes;
}

void CompiledPass::NoteBreak(const Compilation& compilation) {
  const auto [known, added] = breaks_.try_emplace(ToString(compilation), result_.breaks.size());
  if (added && result_.breaks.size() == CompiledFrames::kMost) {
    breaks_.erase(known);
    ++result_.left_out;
    return;
  }
  if (added) result_.breaks.push_back({compilation, 0});
  ++result_.breaks[known->second].count;
}

void CompiledPass::Note(const Event& event, const Compilation& compilation) {
  if (compilation.kind == Compilation::Kind::kGraphBreak) return in_window() ? NoteBreak(compilation) : void();
  CompiledFrame* frame = FrameOf(event.process, compilation.id);
  if (frame == nullptr) return;
  if (compilation.kind == Compilation::Kind::kForward && !compilation.function.empty()) frame->forward = compilation;
  if (!in_window()) return;
  for (const auto& [device, of_device] : threads_[event.thread].devices) {
    if (!selection().device || IsSelected(device)) {
      CompiledBytes& bytes = BytesOf(*frame, device);
      bytes.compile_peak_bytes = std::max(bytes.compile_peak_bytes, of_device.peak);
    }
  }
}

void CompiledPass::SeeRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (range.role.region && in_window() && !event.before) {
    if (CompiledFrame* frame = FrameOf(event.process, IdOfRegion(state().dictionary().text(range.name))))
      ++frame->calls;
  }
  if (!range.role.compiling) return;
  if (range.role.note) {
    const Compilation* compilation = state().dictionary().compilation(range.name);
    if (compilation != nullptr) Note(event, *compilation);
    return;
  }
  const bool outermost = range.depth == 0 || !(*event.stack)[range.depth - 1].role.compiling;
  if (!outermost) return;
  for (const auto& [slot, block] : threads_[event.thread].blocks) thread_of_.erase(slot);
  threads_[event.thread] = {};
}

void CompiledPass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  if (event.before) return;
  if (block.compiling) {
    if (block.slot == Block::kNoSlot) return;
    CompilingThread& thread = threads_[block.thread];
    CompilingThread::DeviceSums& device = thread.devices[block.device];
    device.live += block.bytes;
    device.peak = std::max(device.peak, device.live);
    thread.blocks[block.slot] = {block.device, block.bytes};
    thread_of_[block.slot] = block.thread;
    return;
  }
  if (!in_window() || !block.region.valid()) return;
  CompiledFrame* frame = FrameOf(event.process, IdOfRegion(state().dictionary().text(block.region)));
  if (frame == nullptr) return;
  CompiledBytes& bytes = BytesOf(*frame, block.device);
  ++bytes.allocations;
  bytes.allocated_bytes += block.bytes;
  const bool activation = Rules()[categories_.RuleOf(block)].kept == Category::kActivation;
  if (activation && block.phase != Phase::kBackward) bytes.saved_bytes += block.bytes;
}

void CompiledPass::SeeDeallocate(const DeallocateEvent& event) {
  const auto known = event.block->compiling ? thread_of_.find(event.block->slot) : thread_of_.end();
  if (known == thread_of_.end()) return;
  CompilingThread& thread = threads_[known->second];
  thread.devices[event.block->device].live -= event.block->bytes;
  thread.blocks.erase(event.block->slot);
  thread_of_.erase(known);
}

// Fills in bytes_at_peak of each device from the summary.
void AddPeaks(const Summary& summary, CompiledFrames& frames) {
  for (CompiledFrame& frame : frames.frames) {
    const std::string name = frame.id.empty() ? std::string(kRegion) : std::string(kRegion) + ": " + frame.id;
    const auto row = std::ranges::find_if(summary.rows, [&](const SummaryRow& candidate) {
      return candidate.kind == SummaryRow::Kind::kNamed && candidate.name == name;
    });
    if (row == summary.rows.end()) continue;
    for (CompiledBytes& bytes : frame.by_device) {
      for (std::size_t i = 0; i < summary.devices.size(); ++i) {
        const DeviceRow& device = summary.devices[i];
        if (device.process == frame.process && device.name == bytes.device)
          bytes.bytes_at_peak = row->by_device[i].bytes_at_peak;
      }
    }
  }
}

std::tuple<std::uint64_t, std::uint64_t> SizeOf(const CompiledFrame& frame) {
  std::uint64_t at_peak = 0, allocated = 0;
  for (const CompiledBytes& bytes : frame.by_device) {
    at_peak += bytes.bytes_at_peak;
    allocated += bytes.allocated_bytes;
  }
  return {at_peak, allocated};
}

Task<absl::StatusOr<CompiledFrames>> FindCompiledFrames(SharedCategories& shared, Selection selection) {
  shared.Find();  // begins to find the categories, in the same replay as the summary
  SummaryOptions options;
  static_cast<Selection&>(options) = selection;
  options.by = GroupBy::kRegion;
  const Task<absl::StatusOr<Summary>> summarize = AnalyzeSummary(shared, options);
  const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
  if (!categories.ok()) co_return categories.status();
  CompiledPass pass(shared.capture(), selection, **categories);
  absl::StatusOr<ReplayReport> report = co_await shared.replays().Next(pass, {.modules = true});
  const absl::StatusOr<Summary>& summary = co_await summarize;
  if (!summary.ok()) co_return summary.status();
  if (!report.ok()) co_return report.status();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  CompiledFrames frames = pass.Take();
  frames.missing = (*categories)->missing;
  frames.report = *std::move(report);
  AddPeaks(*summary, frames);
  std::ranges::stable_sort(frames.frames, [](const CompiledFrame& a, const CompiledFrame& b) {
    return std::pair(SizeOf(b), Numbers(a.id)) < std::pair(SizeOf(a), Numbers(b.id));
  });
  co_return frames;
}

}  // namespace

absl::StatusOr<CompiledFrames> AnalyzeCompiledFrames(const Capture& capture, const Selection& selection) {
  JointReplays replays(capture, selection);
  SharedCategories categories(replays);
  return replays.Finish(FindCompiledFrames(categories, selection));
}

}  // namespace memoir
