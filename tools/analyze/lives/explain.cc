#include "tools/analyze/lives/explain.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/pass/blocks_in_windows.h"
#include "tools/analyze/pass/operator_numbers.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

// Returns the position of a block's category in the list: 0 for parameters and buffers, 1 for optimizer states, 2 for
// all other blocks.
int ListOrderOf(const BlockStory& story) {
  switch (Rules()[story.rule].kept) {
    case Category::kParameter:
    case Category::kBuffer:
      return 0;
    case Category::kOptimizerState:
      return 1;
    default:
      return 2;
  }
}

class ExplainPass : public WindowedVisitor {
 public:
  ExplainPass(const Capture& capture, const Selection& selection, const ExplainSubject& subject,
              const BlockCategories& categories)
      : WindowedVisitor(capture, selection), subject_(subject), categories_(categories), lines_(selection.own) {}

  std::deque<BlockStory> stories;
  std::uint64_t matches = 0;

 protected:
  void SeeWindowOpen(const Event&) override { in_windows_.SeeWindowOpen(); }
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeStep(const StepEvent& event) override { step_ = event.step; }
  void SeeProcessEnd(const ProcessEvent& event) override;

 private:
  struct FollowedBlock {
    BlockStory story;
    std::uint64_t ordinal = 0;
    std::uint64_t last_call = 0;  // OpenRange::call of the outermost operator that read the block last
  };
  void Add(BlockStory story);
  // Returns true if the user asked for this block. `stack`: the open ranges at its allocation.
  bool IsMeant(const Block& block, const RangeStack* stack) const;
  void NoteReading(const RangeBeginEvent& event, const Tensor& tensor, FollowedBlock& followed);
  std::string Text(NameId name) const { return std::string(state().dictionary().text(name)); }
  std::vector<SourceLine> Frames(StackId stack) const {
    std::vector<SourceLine> frames;
    for (const Frame& frame : state().dictionary().Frames(stack))
      frames.push_back(SourceLineOf(frame, state().dictionary()));
    std::ranges::reverse(frames);
    return frames;
  }
  std::string Path(ModuleId module) const {
    return module.valid() ? state().dictionary().module(module).display_path() : std::string();
  }
  static const OpenRange* NodeIn(const RangeStack& stack) {
    const std::int32_t depth = stack.empty() ? -1 : stack.back().innermost_backward;
    return depth < 0 ? nullptr : &stack[static_cast<std::size_t>(depth)];
  }

  const ExplainSubject& subject_;
  const BlockCategories& categories_;
  SourceLines lines_;
  BlocksInWindows in_windows_;
  absl::flat_hash_map<std::uint32_t, FollowedBlock> followed_;  // by slot
  std::optional<std::uint64_t> step_;
  std::uint64_t calls_ = 0;       // calls of the selected operator that began in the window
  std::uint64_t meant_call_ = 0;  // OpenRange::call of the selected call; 0: not seen yet
};

bool ExplainPass::IsMeant(const Block& block, const RangeStack* stack) const {
  switch (subject_.kind) {
    case ExplainSubject::Kind::kAddress:
      return block.address <= subject_.address &&
             (subject_.address == block.address || subject_.address - block.address < block.bytes);
    case ExplainSubject::Kind::kCall:
      return meant_call_ != 0 && stack != nullptr &&
             std::ranges::any_of(*stack, [&](const OpenRange& range) { return range.call == meant_call_; });
    case ExplainSubject::Kind::kParameter: {
      const ParameterNumber owner = categories_.OwnerOf(block);
      return owner != kNoParameter && categories_.parameters[owner].IsNamed(subject_.name);
    }
  }
  return false;
}

void ExplainPass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  in_windows_.NoteAllocation(block, in_window());
  if (block.slot == Block::kNoSlot || !IsMeant(block, event.stack)) return;
  BlockStory story;
  story.address = block.address;
  story.bytes = block.bytes;
  story.device = ToString(state().dictionary().device(block.device));
  story.rank = capture().processes()[event.process.value].rank();
  story.made_ns = state().Nanoseconds(event.process, block.tick);
  story.made_by = Text(block.operator_name);
  story.inferred = block.inferred();
  story.unseen = block.unseen;
  story.line = lines_.LineOf(block.line_callstack(), state().dictionary());
  story.stack = Frames(block.callstack);
  story.forward_stack = Frames(block.forward_callstack);
  story.module = Path(block.module);
  story.phase = block.phase;
  story.step = step_;
  story.rule = categories_.RuleOf(block);
  story.expected = categories_.IsExpected(block);
  if (const ParameterNumber owner = categories_.OwnerOf(block); owner != kNoParameter)
    story.parameter = categories_.parameters[owner].label();
  followed_[block.slot] = {std::move(story), block.ordinal};
}

void ExplainPass::SeeRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (subject_.kind == ExplainSubject::Kind::kCall && in_window() && meant_call_ == 0 && range.is_operator &&
      IsOperatorNamed(state().dictionary().text(range.name), subject_.name) && calls_++ == subject_.call)
    meant_call_ = range.call;
  if (followed_.empty()) return;
  for (const Tensor& tensor : event.tensors) {
    if (tensor.storage == 0) continue;
    const Block* block = state().LiveBlockAt(tensor.device, tensor.storage);
    if (block == nullptr) continue;
    if (const auto found = followed_.find(block->slot); found != followed_.end())
      NoteReading(event, tensor, found->second);
  }
}

// Notes that an operator reads the block. If nested operators read the block, only the outermost operator counts.
void ExplainPass::NoteReading(const RangeBeginEvent& event, const Tensor& tensor, FollowedBlock& followed) {
  const RangeStack& stack = *event.stack;
  const OpenRange& range = *event.range;
  const OpenRange& outermost =
      range.outermost_operator < 0 ? range : stack[static_cast<std::size_t>(range.outermost_operator)];
  const Layout* layout = tensor.layout.valid() ? &state().dictionary().layout(tensor.layout) : nullptr;
  if (layout != nullptr && followed.story.tensor.empty()) followed.story.tensor = ToString(*layout);
  if (outermost.call == followed.last_call) return;
  followed.last_call = outermost.call;
  ++followed.story.readings;
  const OpenRange* node = NodeIn(stack);
  BlockReading reading{Nanoseconds(event), Text(outermost.name), Path(range.module), range.phase,
                       node == nullptr ? "" : Text(node->name)};
  if (node != nullptr && range.source != RangeSource::kBackward && followed.story.saved_for.empty())
    followed.story.saved_for = reading.node + (reading.module.empty() ? "" : " of " + reading.module);
  if (followed.story.first_readings.size() < kShownReadings) {
    followed.story.first_readings.push_back(std::move(reading));
  } else {
    followed.story.last_reading = std::move(reading);
  }
}

void ExplainPass::SeeDeallocate(const DeallocateEvent& event) {
  const auto found = followed_.find(event.block->slot);
  if (event.block->slot == Block::kNoSlot || found == followed_.end()) return;
  BlockStory& story = found->second.story;
  story.freed_ns = Nanoseconds(event);
  if (event.thread.valid()) {
    const RangeStack& stack = state().stack(event.thread);
    const OpenRange* node = NodeIn(stack);
    if (node != nullptr) {
      story.freed_inside = Text(node->name);
    } else if (!stack.empty() && stack.back().outermost_operator >= 0) {
      story.freed_inside = Text(stack[static_cast<std::size_t>(stack.back().outermost_operator)].name);
    }
  }
  if (in_windows_.WasInWindow(*event.block, in_window())) Add(std::move(story));
  followed_.erase(found);
}

void ExplainPass::Add(BlockStory story) {
  ++matches;
  stories.push_back(std::move(story));
  if (stories.size() > kMostStories) stories.pop_front();
}

void ExplainPass::SeeProcessEnd(const ProcessEvent&) {
  std::vector<FollowedBlock*> live;
  state().ForEachLiveBlock([&](const Block& block) {
    const auto found = followed_.find(block.slot);
    if (found != followed_.end() && in_windows_.WasInWindow(block, in_window())) live.push_back(&found->second);
  });
  std::ranges::sort(live, {}, &FollowedBlock::ordinal);
  for (FollowedBlock* followed : live) Add(std::move(followed->story));
  followed_.clear();
  step_.reset();
  calls_ = meant_call_ = 0;
}

absl::Status NotFound(const Capture& capture, const ExplainSubject& subject, const BlockCategories& categories) {
  std::string text = capture.path() + ": ";
  switch (subject.kind) {
    case ExplainSubject::Kind::kAddress:
      absl::StrAppend(&text, "no block there; addresses are in memoir show --at peak --json and memoir export events");
      break;
    case ExplainSubject::Kind::kCall:
      absl::StrAppend(&text, "no call ", subject.call, " of an operator ", subject.name,
                      " that allocated anything; memoir show lists operators with their calls");
      break;
    case ExplainSubject::Kind::kParameter:
      absl::StrAppend(&text, "no parameter ", subject.name, " among ", categories.parameters.size(),
                      "; memoir show --by parameter --top 0 lists them");
      break;
  }
  return absl::NotFoundError(text);
}

}  // namespace

absl::StatusOr<ExplainSubject> ParseSubject(const std::string& text) {
  ExplainSubject subject;
  subject.name = subject.text = text;
  const char* const end = text.data() + text.size();
  if (text.starts_with("0x")) {
    const auto [rest, error] = std::from_chars(text.data() + 2, end, subject.address, 16);
    if (error != std::errc() || rest != end)
      return absl::InvalidArgumentError("no address '" + text + "': 0x and up to 16 digits");
    subject.kind = ExplainSubject::Kind::kAddress;
    return subject;
  }
  if (text.find("::") == std::string::npos) return subject;
  subject.kind = ExplainSubject::Kind::kCall;
  const std::size_t hash = text.rfind('#');
  if (hash == std::string::npos) return subject;
  const auto [rest, error] = std::from_chars(text.data() + hash + 1, end, subject.call);
  if (error != std::errc() || rest != end)
    return absl::InvalidArgumentError("no call '" + text + "': after # comes its number, from 0");
  subject.name = text.substr(0, hash);
  return subject;
}

absl::StatusOr<Explanation> ExplainBlocks(const Capture& capture, const Selection& selection, ExplainSubject subject,
                                          std::vector<std::string>* parameters) {
  JointReplays replays(capture, selection);
  SharedCategories shared(replays);
  const absl::StatusOr<KnownCategories>& found = replays.Finish(shared.Find());
  if (!found.ok()) return found.status();
  const KnownCategories& categories = *found;
  const auto is_named = [&](const Parameter& parameter) { return parameter.IsNamed(subject.text); };
  if (std::ranges::any_of(categories->parameters, is_named)) {
    subject.kind = ExplainSubject::Kind::kParameter;
    subject.name = subject.text;
  }
  ExplainPass pass(capture, selection, subject, *categories);
  absl::StatusOr<ReplayReport> report = replays.Finish(replays.Run(pass, {.tensors = true, .modules = true}));
  if (!report.ok()) return report.status();
  if (!pass.selection_status().ok()) return pass.selection_status();
  if (pass.matches == 0) {
    for (const Parameter& parameter : categories->parameters) {
      if (parameters != nullptr)
        parameters->insert(parameters->end(), parameter.labels.begin(), parameter.labels.end());
    }
    return NotFound(capture, subject, *categories);
  }
  Explanation explanation;
  explanation.stories.assign(std::make_move_iterator(pass.stories.begin()),
                             std::make_move_iterator(pass.stories.end()));
  std::ranges::stable_sort(explanation.stories, [](const BlockStory& a, const BlockStory& b) {
    return std::pair(ListOrderOf(a), b.made_ns) < std::pair(ListOrderOf(b), a.made_ns);
  });
  explanation.matches = pass.matches;
  explanation.missing = categories->missing;
  explanation.report = *std::move(report);
  return explanation;
}

}  // namespace memoir
