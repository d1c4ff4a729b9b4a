#include "tools/analyze/categories/evidence/evidence_pass.h"

#include "tools/analyze/categories/allocation_places.h"
#include "tools/analyze/categories/range_traits.h"
#include "tools/analyze/driver/refusal.h"

namespace memoir {

void EvidencePass::OnRangeBegin(const RangeBeginEvent& event) {
  handlers_.live_blocks.NoteRange();
  NoteNodeOrStep(event);
  handlers_.uses.NoteArguments(event);
  handlers_.graph.NoteGiven(event);
  if (event.tensors.empty()) return;
  const RangeTraits traits = handlers_.shared.FindTraits(event.range->name);
  if (traits.copies) handlers_.copies.NoteCopy(event);
  if (traits.copies_over) handlers_.copies.NoteCopyOver(event);
  if (traits.cuts) handlers_.copies.NoteCut(event);
  if (traits.reduces || traits.gathers || traits.scatters) handlers_.collectives.NoteCollective(event, traits);
  if (traits.copies_in || traits.copies_out || traits.chunks) handlers_.collectives.NoteSharding(event, traits);
}

void EvidencePass::NoteNodeOrStep(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  AllocationPlaces& places = handlers_.shared.places;
  if (range.source == RangeSource::kBackward) {
    places.EnterRange(event.thread, range.depth, range.name, handlers_.backward.NoteNode(event));
  } else if (range.innermost_backward < 0 && (range.sequence >= 0 || range.role.optimizer)) {
    handlers_.backward.EndPass();
    if (range.role.optimizer) places.EnterRange(event.thread, range.depth, range.name);
  }
}

void EvidencePass::OnRangeEnd(const RangeEndEvent& event) {
  const OpenRange& range = *event.range;
  SharedEvidence& shared = handlers_.shared;
  if (range.source == RangeSource::kBackward || range.role.optimizer)
    shared.places.ExitRange(event.thread, range.depth);
  handlers_.uses.NoteResults(event);
  handlers_.graph.NoteSaved(event);
  if (shared.FindTraits(range.name).cuts) handlers_.copies.NoteCutResult(event);
}

void EvidencePass::OnAllocate(const AllocateEvent& event) {
  if (!event.before) handlers_.unseen_bytes.Add(*event.block);
  handlers_.origins.NoteAllocation(event);
}

void EvidencePass::OnDriverRefused(const DriverRefusedEvent& event) {
  if (IsOutOfMemory(*handlers_.shared.replay, event)) handlers_.live_blocks.JudgeLive();
}

void EvidencePass::OnModuleEnter(const ModuleEvent& event) {
  if (event.of_gradient) return;
  handlers_.shared.places.EnterModule(event.thread, event.depth, event.module);
  handlers_.shared.module_calls.Enter(event);
}

void EvidencePass::OnModuleExit(const ModuleEvent& event) {
  handlers_.shared.places.ExitModule(event.thread, event.depth);
  handlers_.shared.module_calls.Exit(event);
}

void EvidencePass::OnProcessEnd(const ProcessEvent& event) {
  SharedEvidence& shared = handlers_.shared;
  handlers_.live_blocks.JudgeLive();
  shared.replay->ForEachLiveBlock([&](const Block& block) {
    WatchedBlock& watched = shared.blocks.Of(block);
    handlers_.live_blocks.JudgeLeft(watched, block.slot);
    handlers_.freed_blocks.NoteEnd(block, watched);
  });
  shared.EndProcess();
  handlers_.uses.EndProcess();
  handlers_.graph.EndProcess();
  handlers_.backward.EndProcess();
  handlers_.holders.EndProcess();
  handlers_.copies.EndProcess(event.process, handlers_.holders.parameters());
  handlers_.live_blocks.EndProcess();
}

}  // namespace memoir
