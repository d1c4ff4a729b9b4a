#include "tools/analyze/live_at.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/analyze/grouping.h"
#include "tools/analyze/windowed_visitor.h"
#include "tools/model/job.h"

namespace memoir {
namespace {

std::string Seconds(std::uint64_t ns) { return absl::StrFormat("%.4f s", static_cast<double>(ns) / 1e9); }

// The instant of each device: after how many of its allocations and deallocations in the replay.
struct Instant {
  std::uint64_t after = 0;
  std::uint64_t ns = 0;
};
using Instants = std::map<DeviceId, Instant>;

// Follows live bytes per device and counts its changes; both passes see the same changes.
class ChangePass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;

 protected:
  struct Device {
    ProcessId process;
    std::uint64_t live = 0;
    std::uint64_t peak = 0;
    std::uint64_t changes = 0;
  };
  // After a change of `device`, or when the window opens.
  virtual void Changed(const Event&, DeviceId, Device&) {}
  virtual void Added(const Block&, const Event&) {}
  virtual void Removed(const Block&) {}

  void WindowOpens(const Event& event) override {
    for (auto& [id, device] : devices_) {
      if (device.process == event.process) Changed(event, id, device);
    }
  }
  void Allocated(const AllocateEvent& event) override {
    if (!in_window() && selection().forget_before) return;
    Follow(*event.block);
    Device& device = devices_[event.block->device];
    device.process = event.process;
    device.live += event.block->bytes;
    ++device.changes;
    Added(*event.block, event);
    Changed(event, event.block->device, device);
  }
  void Deallocated(const DeallocateEvent& event) override {
    if (!Unfollow(*event.block)) return;
    Device& device = devices_[event.block->device];
    device.live -= event.block->bytes;
    ++device.changes;
    Removed(*event.block);
    Changed(event, event.block->device, device);
  }
  std::map<DeviceId, Device>& devices() { return devices_; }

 private:
  void Follow(const Block& block) {
    const std::size_t at = block.slot == Block::kNoSlot ? 0 : block.slot + std::size_t{1};
    if (at >= followed_.size()) followed_.resize(at + 1);
    followed_[at] = true;
  }
  bool Unfollow(const Block& block) {
    const std::size_t at = block.slot == Block::kNoSlot ? 0 : block.slot + std::size_t{1};
    if (at >= followed_.size() || !followed_[at]) return false;
    followed_[at] = false;
    return true;
  }
  std::map<DeviceId, Device> devices_;
  std::vector<bool> followed_;  // by slot + 1; 0: the late block
};

class InstantPass : public ChangePass {
 public:
  InstantPass(const Capture& capture, const LiveAtOptions& options) : ChangePass(capture, options), options_(options) {}
  const Instants& instants() const { return instants_; }
  bool found_mark() const { return found_mark_; }
  bool found_out_of_memory() const { return found_out_of_memory_; }
  bool mark_is_outside() const { return mark_is_outside_; }
  // Why the instant lies outside of the windows of a process, if it does.
  const absl::Status& outside() const { return outside_; }
  std::uint64_t first_left_ns() const { return first_left_ns_; }
  std::uint64_t end_ns() const { return end_ns_; }

 protected:
  void Changed(const Event& event, DeviceId id, Device& device) override {
    if (!in_window()) return;
    const bool peak = options_.at.kind == At::Kind::kPeak && device.live > device.peak;
    if (peak) device.peak = device.live;
    if (peak) Note(event, id, device);
    if (options_.at.kind == At::Kind::kTime && Nanoseconds(event) <= options_.at.ns) Note(event, id, device);
  }
  void WindowCloses(const Event& event) override {
    if (options_.at.kind == At::Kind::kEnd) NoteAll(event);
  }
  void ProcessBegins(const ProcessEvent& event) override {
    marked_ = false;
    if (!capture().processes()[event.process.value].starts_at_first_chunk)
      first_left_ns_ = std::max(first_left_ns_, Nanoseconds(event));
  }
  void ProcessEnds(const ProcessEvent& event) override {
    end_ns_ = std::max(end_ns_, Nanoseconds(event));
    if (options_.at.kind == At::Kind::kTime && outside_.ok()) outside_ = CheckInWindow(event.process);
  }
  void RanOutOfMemory(const OutOfMemoryEvent& event) override {
    if (options_.at.kind != At::Kind::kOutOfMemory || !in_window()) return;
    found_out_of_memory_ = true;
    devices()[event.asked->device].process = event.process;
    Note(event, event.asked->device, devices()[event.asked->device]);
  }
  void Marked(const MarkEvent& event) override {
    if (options_.at.kind != At::Kind::kMark || marked_) return;
    if (state().dictionary().text(event.name) != options_.at.mark) return;
    if (!in_window()) {
      mark_is_outside_ = true;
      return;
    }
    marked_ = found_mark_ = true;
    NoteAll(event);
  }

 private:
  void Note(const Event& event, DeviceId id, const Device& device) {
    instants_[id] = {device.changes, Nanoseconds(event)};
  }
  void NoteAll(const Event& event) {
    for (const auto& [id, device] : devices()) {
      if (device.process == event.process) Note(event, id, device);
    }
  }
  absl::Status CheckInWindow(ProcessId process) const;

  const LiveAtOptions& options_;
  Instants instants_;
  absl::Status outside_;
  bool mark_is_outside_ = false;
  bool marked_ = false;
  bool found_mark_ = false;
  bool found_out_of_memory_ = false;
  std::uint64_t first_left_ns_ = 0;  // of a process whose beginning is gone
  std::uint64_t end_ns_ = 0;
};

// Blocks are followed in windows alone, so that outside of them nothing is known to be live.
absl::Status InstantPass::CheckInWindow(ProcessId process) const {
  const Window::Kind kind = selection().window.kind;
  const std::uint64_t ns = options_.at.ns;
  if (kind == Window::Kind::kAll || spans().spans().empty() || spans().Contains(ns)) return absl::OkStatus();
  const std::size_t count = spans().spans().size();
  const Span nearest = spans().Nearest(ns);
  const std::string who = capture().processes().size() == 1 ? "" : ProcessLabel(capture(), process) + ": ";
  return absl::OutOfRangeError(absl::StrCat(capture().path(), ": ", who, Seconds(ns), " lies outside of the ",
                                            count == 1 ? "window, " : absl::StrCat(count, " windows; the nearest is "),
                                            Seconds(nearest.begin_ns), " to ", Seconds(nearest.end_ns), "; leave out ",
                                            kind == Window::Kind::kSteps ? "--steps" : "--range",
                                            ", or choose an instant inside"));
}

class LivePass : public ChangePass {
 public:
  LivePass(const Capture& capture, const LiveAtOptions& options, const Grouping& grouping, const Instants& instants)
      : ChangePass(capture, options), options_(options), grouping_(grouping), instants_(instants) {}
  std::vector<LiveDevice> result;

 protected:
  void Added(const Block& block, const Event& event) override {
    if (Passed(block.device)) return;
    const bool whole = selection().window.kind == Window::Kind::kAll;
    const bool before = !in_window() || block.origin != BlockOrigin::kRecorded;
    const Group group = in_window() || whole ? grouping_.Of(block, event.process) : kBeforeGroup;
    blocks_[block.device][block.address] = {block, group, before};
  }
  void Removed(const Block& block) override {
    if (!Passed(block.device)) blocks_[block.device].erase(block.address);
  }
  void Changed(const Event&, DeviceId id, Device& device) override {
    const auto instant = instants_.find(id);
    if (instant == instants_.end() || device.changes != instant->second.after || Passed(id)) return;
    Snapshot(id, device, instant->second);
  }
  // Instants before the first change of a device hold nothing; say so.
  void ProcessEnds(const ProcessEvent& event) override {
    for (auto& [id, device] : devices()) {
      if (device.process == event.process && !Passed(id)) Empty(id, device);
    }
    blocks_.clear();
  }

 private:
  struct Live {
    Block block;
    Group group;
    bool before;
  };
  bool Passed(DeviceId id) const { return done_.count(id) != 0; }
  void Empty(DeviceId id, const Device& device) {
    blocks_[id].clear();
    Device none = device;
    none.live = 0;
    Snapshot(id, none, {0, options_.at.kind == At::Kind::kTime ? options_.at.ns : 0});
  }
  void Snapshot(DeviceId id, const Device& device, const Instant& instant);
  LiveBlock Show(const Live& live, ProcessId process) const;

  const LiveAtOptions& options_;
  const Grouping& grouping_;
  const Instants& instants_;
  std::map<DeviceId, absl::flat_hash_map<std::uint64_t, Live>> blocks_;
  std::map<DeviceId, bool> done_;
};

LiveBlock LivePass::Show(const Live& live, ProcessId process) const {
  const Dictionary& dictionary = state().dictionary();
  const Block& block = live.block;
  LiveBlock shown{block.address, block.bytes, block.serial, state().Nanoseconds(process, block.tick), "", "", "", "",
                  live.before};
  if (block.thread.valid()) shown.thread = absl::StrCat("thread ", dictionary.thread(block.thread).number);
  shown.operator_name = dictionary.text(block.operator_name);
  shown.leaf_name = dictionary.text(block.leaf_name);
  shown.range_name = dictionary.text(block.user_name);
  return shown;
}

void LivePass::Snapshot(DeviceId id, const Device& device, const Instant& instant) {
  done_[id] = true;
  LiveDevice shown;
  shown.name = ToString(state().dictionary().device(id));
  shown.process = device.process;
  shown.rank = capture().processes()[device.process.value].rank();
  shown.ns = options_.at.kind == At::Kind::kTime ? options_.at.ns : instant.ns;
  shown.live_bytes = device.live;
  std::map<std::string, LiveRow> rows;
  std::vector<const Live*> largest;
  for (const auto& [address, live] : blocks_[id]) {
    LiveRow& row = rows[grouping_.Key(live.group, capture(), state().dictionary())];
    if (row.blocks == 0) row.name = grouping_.Label(live.group, capture(), state().dictionary());
    row.bytes += live.block.bytes;
    row.blocks += 1;
    shown.live_blocks += 1;
    largest.push_back(&live);
  }
  for (auto& [key, row] : rows) shown.rows.push_back(std::move(row));
  std::stable_sort(shown.rows.begin(), shown.rows.end(),
                   [](const LiveRow& a, const LiveRow& b) { return a.bytes > b.bytes; });
  std::sort(largest.begin(), largest.end(), [](const Live* a, const Live* b) {
    return std::pair(b->block.bytes, a->block.ordinal) < std::pair(a->block.bytes, b->block.ordinal);
  });
  if (largest.size() > options_.largest) largest.resize(options_.largest);
  for (const Live* live : largest) shown.largest.push_back(Show(*live, device.process));
  blocks_[id].clear();
  result.push_back(std::move(shown));
}

// An instant of which the capture knows nothing is no instant with nothing live.
absl::Status CheckInside(const Capture& capture, const At& at, const InstantPass& instants) {
  if (at.kind != At::Kind::kTime) return absl::OkStatus();
  if (at.ns > instants.end_ns()) {
    return absl::OutOfRangeError(absl::StrCat(capture.path(), ": the recording ends at ", Seconds(instants.end_ns()),
                                              ", before ", Seconds(at.ns)));
  }
  if (at.ns < instants.first_left_ns()) {
    return absl::OutOfRangeError(absl::StrCat(capture.path(), ": what is left of the recording begins at ",
                                              Seconds(instants.first_left_ns()), ", after ", Seconds(at.ns)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LiveAt> AnalyzeLiveAt(const Capture& capture, const LiveAtOptions& options) {
  InstantPass instants(capture, options);
  absl::StatusOr<ReplayReport> report = capture.Replay(instants, ReplayOptionsFor(options, false, false));
  if (!report.ok()) return report.status();
  if (!instants.found().ok()) return instants.found();
  if (options.at.kind == At::Kind::kMark && !instants.found_mark() && instants.mark_is_outside()) {
    return absl::NotFoundError(
        absl::StrCat(capture.path(), ": mark '", options.at.mark, "' lies outside of the window"));
  }
  if (options.at.kind == At::Kind::kMark && !instants.found_mark()) {
    return absl::NotFoundError(
        absl::StrCat(capture.path(), ": no mark '", options.at.mark, "'; memoir.mark() makes them"));
  }
  if (options.at.kind == At::Kind::kOutOfMemory && !instants.found_out_of_memory())
    return absl::NotFoundError("no out-of-memory error is recorded in " + capture.path());
  if (absl::Status inside = CheckInside(capture, options.at, instants); !inside.ok()) return inside;
  if (!instants.outside().ok()) return instants.outside();
  const absl::StatusOr<Grouping> grouping = Grouping::Make(capture, options.by, options);
  if (!grouping.ok()) return grouping.status();
  LivePass pass(capture, options, *grouping, instants.instants());
  ReplayOptions replay = ReplayOptionsFor(options, false, false);
  replay.modules = options.by == GroupBy::kModule;
  report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  LiveAt result;
  result.by = options.by;
  result.devices = std::move(pass.result);
  result.report = *std::move(report);
  return result;
}

}  // namespace memoir
