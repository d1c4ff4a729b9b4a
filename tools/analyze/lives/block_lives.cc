#include "tools/analyze/lives/block_lives.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "tools/analyze/pass/blocks_in_windows.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

class LivesPass : public WindowedVisitor {
 public:
  LivesPass(const Capture& capture, const Selection& selection, const BlockCategories& categories,
            const BlockLifeVisitor& show)
      : WindowedVisitor(capture, selection), categories_(categories), show_(show) {}

 protected:
  // The next four functions pass each block that is live at any time in a window to `show_`: when the block is freed,
  // or at the end of its process.
  void SeeWindowOpen(const Event&) override { in_windows_.SeeWindowOpen(); }
  void SeeAllocate(const AllocateEvent& event) override { in_windows_.NoteAllocation(*event.block, in_window()); }
  void SeeDeallocate(const DeallocateEvent& event) override {
    if (in_windows_.WasInWindow(*event.block, in_window())) Show(*event.block, event.process, Nanoseconds(event));
  }
  void SeeProcessEnd(const ProcessEvent& event) override {
    std::vector<const Block*> live;
    state().ForEachLiveBlock([&](const Block& block) {
      if (IsSelected(block) && in_windows_.WasInWindow(block, in_window())) live.push_back(&block);
    });
    // Sorts the blocks, so that two exports of one capture are equal.
    const auto birth = [](const Block* block) { return std::tuple(block->tick, block->serial, block->address); };
    std::ranges::sort(live, {}, birth);
    for (const Block* block : live) Show(*block, event.process, std::nullopt);
  }

 private:
  void Show(const Block& block, ProcessId process, std::optional<std::uint64_t> freed_ns) {
    show_({&block, process, state().Nanoseconds(process, block.tick), freed_ns, categories_.RuleOf(block),
           categories_.OwnerOf(block)},
          state());
  }

  const BlockCategories& categories_;
  const BlockLifeVisitor& show_;
  BlocksInWindows in_windows_;
};

}  // namespace

Task<absl::StatusOr<ReplayReport>> ForEachBlockLife(JointReplays& replays, Selection selection,
                                                    const BlockCategories& categories, BlockLifeVisitor show) {
  LivesPass pass(replays.capture(), selection, categories, show);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.modules = true});
  if (report.ok() && !pass.selection_status().ok()) co_return pass.selection_status();
  co_return report;
}

}  // namespace memoir
