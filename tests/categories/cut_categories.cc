// The categories of a capture if it had ended earlier: cut_categories CAPTURE CUTS SEED.
//
// One replay. At each of CUTS random events a copy of the pass that watches blocks ends there and assigns categories to
// the live blocks. They are compared with the categories from the whole recording. The output is a list of JSON
// objects, one for each cut: its place, live bytes, bytes with equal categories, the largest differing blocks, and the
// excluded bytes: unused memory whose purpose only the future shows.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/evidence/evidence_pass.h"
#include "tools/analyze/categories/operator_saves.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

struct Judged {
  std::uint64_t ordinal = 0, bytes = 0;
  RuleNumber rule = 0;
  std::string made;
};
struct Cut {
  std::uint64_t event = 0, ns = 0;
  std::string inside;
  Phase phase = Phase::kOther;
  std::vector<Judged> live;
  std::uint64_t unused = 0;
};

std::string MadeIn(const Block& block, const Dictionary& dictionary) {
  return fmt::format("{} of {} in {} of {}", dictionary.text(block.leaf_name), dictionary.text(block.operator_name),
                     ToString(block.phase),
                     block.module.valid() ? dictionary.module(block.module).display_path() : "none");
}

RuleNumber RuleIn(const BlockRules& rules, std::uint64_t ordinal) {
  const RuleNumber rule = rules.At(ordinal);
  return rule == kNotJudged ? static_cast<RuleNumber>(Rules().size() - 1) : rule;
}

// Hands every event on to the pass that it watches, and ends copies of it.
class CuttingPass : public Visitor {
 public:
  explicit CuttingPass(std::set<std::uint64_t> at) : at_(std::move(at)) {}
  std::vector<Cut> cuts;
  std::uint64_t events = 0;
  BlockRules TakeRules() { return pass_.TakeRules(); }

  void OnStart(const ReplayState& state) override {
    state_ = &state;
    pass_.OnStart(state);
  }
  void OnCut(const CutEvent& event) override { pass_.OnCut(event); }
  void OnProcessEnd(const ProcessEvent& event) override { pass_.OnProcessEnd(event); }
  void OnRangeBegin(const RangeBeginEvent& event) override {
    pass_.OnRangeBegin(event);
    NoteUse(event);
    Count(event);
  }
  void OnRangeEnd(const RangeEndEvent& event) override {
    Count(event);
    pass_.OnRangeEnd(event);
  }
  void OnAllocate(const AllocateEvent& event) override {
    pass_.OnAllocate(event);
    if (event.stack != nullptr && !event.stack->empty() && event.stack->back().innermost_backward >= 0) {
      const OpenRange& node = (*event.stack)[static_cast<std::size_t>(event.stack->back().innermost_backward)];
      nodes_[event.block->ordinal] = {node.depth, node.call};
    }
    Count(event);
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    Count(event);
    pass_.OnDeallocate(event);
  }
  void OnOutOfMemory(const OutOfMemoryEvent& event) override { pass_.OnOutOfMemory(event); }
  void OnDriverRefused(const DriverRefusedEvent& event) override { pass_.OnDriverRefused(event); }
  void OnSwitch(const LevelChangeEvent& event) override { pass_.OnSwitch(event); }
  void OnHolds(const HeldTensorsEvent& event) override {
    pass_.OnHolds(event);
    for (const Tensor& tensor : event.tensors) Use(tensor);
    Count(event);
  }
  void OnModuleEnter(const ModuleEvent& event) override {
    pass_.OnModuleEnter(event);
    Count(event);
  }
  void OnModuleExit(const ModuleEvent& event) override {
    Count(event);
    pass_.OnModuleExit(event);
  }

 private:
  void Use(const Tensor& tensor) {
    const Block* block = tensor.storage == 0 ? nullptr : state_->LiveBlockAt(tensor.device, tensor.storage);
    if (block != nullptr) used_.insert(block->ordinal);
  }
  // By an operator, but for one that makes a view of it and those inside of what makes it.
  void NoteUse(const RangeBeginEvent& event) {
    const OpenRange& range = *event.range;
    if (range.outermost_operator >= 0 && range.outermost_operator != static_cast<std::int32_t>(range.depth)) return;
    const std::string_view name = state_->dictionary().text(range.name);
    const OperatorSaves* saves = SavesOf(name);
    const bool asks = name == "aten::_has_compatible_shallow_copy_type";  // p.data = ..., which reads nothing
    if ((saves != nullptr && saves->is_view) || asks) return;
    if (range.is_operator) newest_[event.thread.value] = range.call;
    for (const Tensor& tensor : event.tensors) Use(tensor);
  }
  // A block that was made outside of modules, backward and optimizer may become anything, and so may an empty one. The
  // next operator of a thread shows the purpose of the newest one's result.
  bool IsOpen(const Block& block) const {
    if (used_.contains(block.ordinal)) return false;
    const bool empty = state_->dictionary().text(block.operator_name).starts_with("aten::empty");
    const auto newest = newest_.find(block.thread.value);
    const bool is_new = block.operator_call != 0 && newest != newest_.end() && block.operator_call >= newest->second;
    return block.phase == Phase::kOther || empty || is_new || ItsNodeRuns(block);
  }
  // Which may give it back, or have made it for itself.
  bool ItsNodeRuns(const Block& block) const {
    const auto node = nodes_.find(block.ordinal);
    if (node == nodes_.end() || !block.thread.valid()) return false;
    const RangeStack& stack = state_->stack(block.thread);
    return node->second.first < stack.size() && stack[node->second.first].call == node->second.second;
  }

  void Count(const Event& event) {
    if (!at_.contains(events++)) return;
    Cut cut;
    cut.event = events - 1;
    cut.ns = state_->Nanoseconds(event.process, event.tick);
    if (event.thread.valid()) {
      for (const OpenRange& range : state_->stack(event.thread)) {
        cut.inside += cut.inside.empty() ? "" : " > ";
        cut.inside += state_->dictionary().text(range.name);
        cut.phase = range.phase;
      }
    }
    EvidencePass ends_here = pass_;
    ends_here.OnCut({});
    ProcessEvent end;
    end.process = event.process;
    end.tick = event.tick;
    ends_here.OnProcessEnd(end);
    const BlockRules rules = ends_here.TakeRules();
    state_->ForEachLiveBlock([&](const Block& block) {
      if (IsOpen(block)) {
        cut.unused += block.bytes;
        return;
      }
      cut.live.push_back(
          {block.ordinal, block.bytes, RuleIn(rules, block.ordinal), MadeIn(block, state_->dictionary())});
    });
    cuts.push_back(std::move(cut));
  }

  const ReplayState* state_ = nullptr;
  EvidencePass pass_{false};
  std::set<std::uint64_t> at_;
  std::set<std::uint64_t> used_;                                            // ordinals
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> nodes_;  // by ordinal: depth, OpenRange::call
  std::map<std::uint32_t, std::uint64_t> newest_;  // by ThreadId: the newest operator, OpenRange::call
};

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return quoted + "\"";
}

void Print(const Cut& cut, const BlockRules& whole) {
  std::uint64_t live = 0, same = 0;
  std::vector<const Judged*> differ;
  for (const Judged& one : cut.live) {
    live += one.bytes;
    const bool alike = Rules()[one.rule].kept == Rules()[RuleIn(whole, one.ordinal)].kept;
    same += alike ? one.bytes : 0;
    if (!alike) differ.push_back(&one);
  }
  std::ranges::stable_sort(differ, [](const Judged* a, const Judged* b) { return a->bytes > b->bytes; });
  std::cout << fmt::format(R"({{"event": {}, "ns": {}, "phase": "{}", "inside": {}, )", cut.event, cut.ns,
                           ToString(cut.phase), Quoted(cut.inside));
  std::cout << fmt::format(R"("live_bytes": {}, "same_bytes": {}, "unused_bytes": {}, "differ": [)", live, same,
                           cut.unused);
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(kShown, differ.size()); ++i) {
    const Judged& one = *differ[i];
    std::cout << fmt::format(R"({}{{"bytes": {}, "cut": "{}", "whole": "{}", "made": {}}})", i == 0 ? "" : ", ",
                             one.bytes, Rules()[one.rule].name, Rules()[RuleIn(whole, one.ordinal)].name,
                             Quoted(one.made));
  }
  std::cout << "]}";
}

int Main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto capture = Capture::Open(argv[1]);
  if (!capture.ok()) {
    std::cerr << capture.status() << "\n";
    return 1;
  }
  ReplayOptions options;
  options.tensors = options.modules = true;
  options.first_seen = false;
  CuttingPass counts({});
  if (!capture->Replay(counts, options).ok() || counts.events == 0) return 1;
  std::mt19937_64 random(std::strtoull(argv[3], nullptr, 10));
  std::set<std::uint64_t> at;
  const auto cuts = std::min<std::uint64_t>(std::strtoull(argv[2], nullptr, 10), counts.events);
  while (at.size() < cuts) at.insert(random() % counts.events);
  CuttingPass pass(at);
  if (!capture->Replay(pass, options).ok()) return 1;
  const BlockRules whole = pass.TakeRules();
  std::cout << "[";
  for (std::size_t i = 0; i < pass.cuts.size(); ++i) {
    std::cout << (i == 0 ? "" : ",\n ");
    Print(pass.cuts[i], whole);
  }
  std::cout << "]\n";
  return 0;
}

}  // namespace
}  // namespace memoir

int main(int argc, char** argv) { return memoir::Main(argc, argv); }
