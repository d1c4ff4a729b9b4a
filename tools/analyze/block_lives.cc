#include "tools/analyze/block_lives.h"

#include <vector>

#include "tools/analyze/windowed_visitor.h"

namespace memoir {
namespace {

class LivesPass : public WindowedVisitor {
 public:
  LivesPass(const Capture& capture, const Selection& selection, const BlockCategories& categories, const ShowLife& show)
      : WindowedVisitor(capture, selection), categories_(categories), show_(show) {}

 protected:
  // Whatever lives while a window is open was in it.
  void WindowOpens(const Event&) override { ++windows_opened_; }
  void Allocated(const AllocateEvent& event) override {
    if (event.block->slot == Block::kNoSlot) return;
    if (event.block->slot >= windows_at_birth_.size()) windows_at_birth_.resize(event.block->slot + 1);
    windows_at_birth_[event.block->slot] = in_window() ? 0 : windows_opened_;
  }
  void Deallocated(const DeallocateEvent& event) override {
    if (WasInWindow(*event.block)) Show(*event.block, event.process, Nanoseconds(event));
  }
  void ProcessEnds(const ProcessEvent& event) override {
    state().ForEachLiveBlock([&](const Block& block) {
      if (IsSelected(block.device) && WasInWindow(block)) Show(block, event.process, std::nullopt);
    });
  }

 private:
  bool WasInWindow(const Block& block) const {
    if (block.slot == Block::kNoSlot) return in_window();
    return block.slot < windows_at_birth_.size() && windows_at_birth_[block.slot] < windows_opened_;
  }
  void Show(const Block& block, ProcessId process, std::optional<std::uint64_t> freed_ns) {
    show_({&block, process, state().Nanoseconds(process, block.tick), freed_ns, categories_.RuleOf(block),
           categories_.OwnerOf(block)},
          state());
  }

  const BlockCategories& categories_;
  const ShowLife& show_;
  std::uint64_t windows_opened_ = 0;
  std::vector<std::uint64_t> windows_at_birth_;  // by slot: opened before it was allocated; 0: it was allocated in one
};

}  // namespace

absl::StatusOr<ReplayReport> ForEachBlockLife(const Capture& capture, const Selection& selection,
                                              const BlockCategories& categories, const ShowLife& show) {
  LivesPass pass(capture, selection, categories, show);
  ReplayOptions options = ReplayOptionsFor(selection, false, false);
  options.modules = true;
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (report.ok() && !pass.found().ok()) return pass.found();
  return report;
}

}  // namespace memoir
