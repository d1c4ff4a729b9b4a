#include "tools/analyze/summary/endings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tools/analyze/grouping/own_code.h"

namespace memoir {
namespace {

bool IsOutermostOperator(const OpenRange& range) {
  return range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
}

}  // namespace

bool IsBadEnd(const v1::End& end) {
  return end.reason() == v1::End::MERGED || (end.reason() == v1::End::EXITED && !end.message().empty());
}

EndingPass::Steps EndingPass::StepsNow() const {
  Steps now;
  for (std::size_t i = 0; i < kStepSources; ++i) {
    const auto source = static_cast<StepSource>(i);
    // The time before the first call of an optimizer is step 0.
    if (steps().begun(source) > 0 || source == StepSource::kOptimizer) now[i] = steps().newest(source);
  }
  return now;
}

EndingPass::Call EndingPass::CallOf(const OpenRange& range) {
  const StackId stack = range.forward_callstack.valid() ? range.forward_callstack : range.callstack;
  return {range.name, range.module, lines_.LineOf(stack, state().dictionary()), StepsNow()};
}

// Returns true if the operator's schema has results, but the call returned no results. torch reports no results if the
// operator throws an exception.
bool EndingPass::LacksResults(const RangeEndEvent& event) const {
  const Dictionary& dictionary = state().dictionary();
  if (event.implicit || !event.range->schema.valid()) return false;
  const bool has_results = !std::string_view(dictionary.schema(event.range->schema).text).ends_with("-> ()");
  return has_results && (!event.signature.valid() || dictionary.signature(event.signature).kinds.empty());
}

void EndingPass::SeeRangeBegin(const RangeBeginEvent& event) {
  if (IsOutermostOperator(*event.range)) failed_.is_newest = false;
}

void EndingPass::SeeRangeEnd(const RangeEndEvent& event) {
  if (!IsOutermostOperator(*event.range) || !LacksResults(event)) return;
  failed_ = CallOf(*event.range);
  failed_.is_newest = true;
}

// Notes the outermost operator call that is running. If several threads run calls, notes the call that began last,
// because the threads with earlier calls usually wait for this call or work for it.
void EndingPass::OnCut(const CutEvent&) {
  const OpenRange* newest = nullptr;
  for (std::uint32_t i = 0; i < state().dictionary().threads(); ++i) {
    const RangeStack& stack = state().stack(ThreadId{i});
    const std::int32_t outermost = stack.empty() ? -1 : stack.back().outermost_operator;
    if (outermost < 0) continue;
    const OpenRange& range = stack[static_cast<std::size_t>(outermost)];
    if (newest == nullptr || range.begin > newest->begin) newest = &range;
  }
  running_ = newest == nullptr ? Call() : CallOf(*newest);
}

void EndingPass::SeeProcessEnd(const ProcessEvent& event) {
  last_.push_back({event.process, Nanoseconds(event), steps().source(), StepsNow(), running_, failed_});
}

SourceLine EndingPass::RaisedAt(const v1::End& end) const {
  const v1::TracebackFrame* innermost = nullptr;
  for (const v1::TracebackFrame& frame : end.traceback()) {
    const CodeOwner owner = own_.OwnerOf(frame.file());
    if (owner == CodeOwner::kNamed) return {frame.file(), frame.function(), frame.line()};
    if (owner == CodeOwner::kProgram && innermost == nullptr) innermost = &frame;
  }
  if (innermost == nullptr && end.traceback_size() > 0) innermost = &end.traceback(0);
  if (innermost == nullptr) return {};
  return {innermost->file(), innermost->function(), innermost->line()};
}

// The failed operator call counts as the cause of the exception in two cases: the call and the exception have the same
// line, or no other call began after the failed call.
Ending EndingPass::EndingOf(const LastCalls& last, const v1::End& end) const {
  Ending ending;
  ending.process = last.process;
  ending.end = end;
  ending.ns = last.ns;
  const bool is_exception = end.reason() == v1::End::EXITED;
  if (is_exception) ending.line = RaisedAt(end);
  const Call& failed = last.failed;
  const bool is_same =
      ending.line.known() && failed.line.file == ending.line.file && failed.line.line == ending.line.line;
  const Call& call = !is_exception ? last.running : is_same || failed.is_newest ? failed : Call();
  const Dictionary& dictionary = state().dictionary();
  const auto source = static_cast<std::size_t>(last.source);
  ending.step = last.source == StepSource::kNone ? std::nullopt
                : call.operator_name.valid()     ? call.steps[source]
                                                 : last.steps[source];
  if (!call.operator_name.valid()) return ending;
  ending.operator_name = dictionary.text(call.operator_name);
  if (call.module.valid()) ending.module = dictionary.module(call.module).display_path();
  if (!ending.line.known()) ending.line = call.line;
  return ending;
}

void EndingPass::SeeEnd(const ReplayReport& report) {
  for (const LastCalls& last : last_) {
    const ReplayReport::Process& process = report.processes[last.process.value];
    if (process.replayed && IsBadEnd(process.end)) endings_.push_back(EndingOf(last, process.end));
  }
}

Task<absl::StatusOr<std::vector<Ending>>> AnalyzeEndings(JointReplays& replays, Selection selection) {
  Selection whole;
  whole.rank = selection.rank;
  whole.own = selection.own;
  EndingPass pass(replays.capture(), whole);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.modules = true});
  if (!report.ok()) co_return report.status();
  co_return pass.Take();
}

}  // namespace memoir
