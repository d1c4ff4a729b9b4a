#include "tools/analyze/time/live_block_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/instant.h"
#include "tools/model/snapshot_trigger.h"

namespace memoir {
namespace {

class LiveBlockTablePass : public ChangePass {
 public:
  LiveBlockTablePass(const Capture& capture, const LiveBlockTableOptions& options, const Grouping& grouping,
                     const BlockCategories& categories, const Instants& instants)
      : ChangePass(capture, options),
        options_(options),
        grouping_(grouping),
        categories_(categories),
        instants_(instants),
        lines_(options.own),
        of_snapshot_(IsSnapshot(capture)) {}
  std::vector<LiveDevice> result;
  std::string missing;

 protected:
  void SeeBlockAdded(const Block& block, const Event& event) override {
    if (Passed(block.device)) return;
    const bool whole = selection().window.kind == SelectionWindow::Kind::kAll;
    // The keyframe of a snapshot (memoir.snapshot()) contains allocation times.
    const bool from_keyframe = of_snapshot_ && block.origin == BlockOrigin::kKeyframe;
    const bool before = !from_keyframe && (!in_window() || block.origin != BlockOrigin::kRecorded);
    const bool grouped = in_window() || whole || NeedsCategories(options_.by);
    const Group group = grouping_.GroupOf(block, event.process, state().dictionary(), !grouped);
    blocks_[block.device][block.address] = {block, group, before, !grouped && group != kBeforeGroup};
  }
  void SeeBlockRemoved(const Block& block) override {
    if (!Passed(block.device)) blocks_[block.device].erase(block.address);
  }
  void SeeChange(const Event&, DeviceId id, Device& device) override {
    const auto instant = instants_.find(id);
    if (instant == instants_.end() || device.changes != instant->second.after || Passed(id)) return;
    Snapshot(id, device, instant->second);
  }
  void SeeEnd(const ReplayReport&) override { missing = grouping_.Missing(state().dictionary()); }
  // Adds each device whose instant lies before its first change. Such a device has no blocks.
  void SeeProcessEnd(const ProcessEvent& event) override {
    for (auto& [id, device] : devices()) {
      if (device.process == event.process && !Passed(id)) Empty(id, device);
    }
    blocks_.clear();
  }

 private:
  struct BlockInGroup {
    Block block;
    Group group;
    bool before;
    bool has_before_label;  // the name of its row contains kBeforeLabel
  };
  bool Passed(DeviceId id) const { return done_.count(id) != 0; }
  void Empty(DeviceId id, const Device& device) {
    blocks_[id].clear();
    Device none = device;
    none.live = 0;
    Snapshot(id, none, {0, options_.at.kind == InstantChoice::Kind::kTime ? options_.at.ns : 0});
  }
  void Snapshot(DeviceId id, const Device& device, const Instant& instant);
  LiveBlock Show(const BlockInGroup& live, ProcessId process);

  const LiveBlockTableOptions& options_;
  const Grouping& grouping_;
  const BlockCategories& categories_;
  const Instants& instants_;
  SourceLines lines_;
  const bool of_snapshot_;
  std::map<DeviceId, absl::flat_hash_map<std::uint64_t, BlockInGroup>> blocks_;
  std::map<DeviceId, bool> done_;
};

LiveBlock LiveBlockTablePass::Show(const BlockInGroup& live, ProcessId process) {
  const Dictionary& dictionary = state().dictionary();
  const Block& block = live.block;
  LiveBlock shown;
  shown.address = block.address;
  shown.bytes = block.bytes;
  shown.serial = block.serial;
  shown.allocated_ns = state().Nanoseconds(process, block.tick);
  shown.before = live.before;
  if (block.thread.valid()) shown.thread = absl::StrCat("thread ", dictionary.thread(block.thread).number);
  shown.operator_name = dictionary.text(MakerOf(block));
  shown.leaf_name = dictionary.text(block.leaf_name);
  shown.line = lines_.LineOf(block.line_callstack(), dictionary);
  shown.range_name = dictionary.text(block.user_name);
  if (block.module.valid()) shown.module = dictionary.module(block.module).display_path();
  shown.category = LabelOfCategory(categories_.CategoryOf(block));
  if (const ParameterNumber owner = categories_.OwnerOf(block); owner != kNoParameter)
    shown.parameter = categories_.parameters[owner].label();
  return shown;
}

void LiveBlockTablePass::Snapshot(DeviceId id, const Device& device, const Instant& instant) {
  done_[id] = true;
  LiveDevice shown;
  shown.name = ToString(state().dictionary().device(id));
  shown.process = device.process;
  shown.rank = capture().processes()[device.process.value].rank();
  shown.ns = options_.at.kind == InstantChoice::Kind::kTime ? options_.at.ns : instant.ns;
  shown.live_bytes = device.live;
  std::map<std::string, LiveRow> rows;
  std::vector<const BlockInGroup*> largest;
  for (const auto& [address, live] : blocks_[id]) {
    const std::string then = live.has_before_label ? absl::StrCat(" ", kBeforeLabel) : "";
    LiveRow& row = rows[grouping_.Key(live.group, capture(), state().dictionary()) + then];
    if (row.blocks == 0) {
      row.name = grouping_.Label(live.group, capture(), state().dictionary()) + then;
      row.source = grouping_.LineOf(live.group, state().dictionary());
      row.via = grouping_.ViaOf(live.group);
    }
    row.bytes += live.block.bytes;
    row.blocks += 1;
    shown.live_blocks += 1;
    largest.push_back(&live);
  }
  for (auto& [key, row] : rows) shown.rows.push_back(std::move(row));
  std::stable_sort(shown.rows.begin(), shown.rows.end(),
                   [](const LiveRow& a, const LiveRow& b) { return a.bytes > b.bytes; });
  std::sort(largest.begin(), largest.end(), [](const BlockInGroup* a, const BlockInGroup* b) {
    return std::pair(b->block.bytes, a->block.ordinal) < std::pair(a->block.bytes, b->block.ordinal);
  });
  if (largest.size() > options_.largest) largest.resize(options_.largest);
  for (const BlockInGroup* live : largest) shown.largest.push_back(Show(*live, device.process));
  blocks_[id].clear();
  result.push_back(std::move(shown));
}

Task<absl::StatusOr<LiveBlockTable>> FindLiveBlocks(SharedCategories& shared, LiveBlockTableOptions options) {
  shared.Find();  // starts the pass for categories, which the list of the largest blocks always needs
  const Task<absl::StatusOr<Grouping>> make_grouping = Grouping::Make(shared, options.by, options.own);
  const absl::StatusOr<Instants> instants = co_await FindInstants(shared.replays(), options, options.at);
  if (!instants.ok()) co_return instants.status();
  absl::StatusOr<Grouping>& grouping = co_await make_grouping;
  if (!grouping.ok()) co_return grouping.status();
  const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
  if (!categories.ok()) co_return categories.status();
  if (Grouping::SeparatesWorkspaces(options.by)) grouping->SeparateWorkspaces((*categories)->workspaces);
  LiveBlockTablePass pass(shared.capture(), options, *grouping, **categories, *instants);
  absl::StatusOr<ReplayReport> report = co_await shared.replays().Next(pass, {.modules = true});
  if (!report.ok()) co_return report.status();
  LiveBlockTable result;
  result.by = options.by;
  result.missing = std::move(pass.missing);
  result.devices = std::move(pass.result);
  result.report = *std::move(report);
  co_return result;
}

}  // namespace

absl::StatusOr<LiveBlockTable> AnalyzeLiveBlockTable(const Capture& capture, const LiveBlockTableOptions& options) {
  JointReplays replays(capture, options);
  SharedCategories categories(replays);
  return replays.Finish(FindLiveBlocks(categories, options));
}

}  // namespace memoir
