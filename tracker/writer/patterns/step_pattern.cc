#include "tracker/writer/patterns/step_pattern.h"

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/events/varint_column.h"

namespace memoir {
namespace {

// Mixes the bits of `value` like the last part of splitmix64.
std::uint64_t Mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint64_t Pair(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

void Put(const PatternEvent& event, std::uint64_t tick, RunColumns& run) {
  run.PutEvent(event.kind, tick);
  if (event.kind == EventKind::kStep) return run.Put(RunColumn::kStep, 0);
  if (event.kind == EventKind::kStack) return run.Put(RunColumn::kStack, event.stack);
  run.PutBlock(event.address, 0, event.device);
  if (event.kind != EventKind::kAllocate && event.kind != EventKind::kBlockAllocate) return;
  run.Put(RunColumn::kBytes, event.bytes);
  if (event.kind == EventKind::kAllocate) return;
  run.Put(RunColumn::kRequestedBytes, event.requested);
  DevicePlace place{};
  place.stream = event.stream;
  place.pool_graph = event.pool_graph;
  place.pool_user = event.pool_user;
  run.PutPlace(place);
}

}  // namespace

std::uint64_t HashOfEvents(std::uint64_t before, const PatternEvent& event) {
  std::uint64_t hash = Mix(before + Pair(static_cast<std::uint32_t>(event.kind), event.thread));
  hash = Mix(hash + Pair(event.stack, event.device));
  hash = Mix(hash + Pair(event.of_host, event.freed_event));
  hash = Mix(hash + event.bytes);
  if (event.address == 0) return hash;
  hash = Mix(hash + event.address);
  hash = Mix(hash + event.requested);
  return Mix(hash + event.stream + Pair(event.pool_graph, event.pool_user));
}

void AddStepPattern(const StepPattern& pattern, std::string* payload) {
  RunColumns run;
  VarintColumn thread, of_host, freed_event;
  run.Start(0, 0, 0, 0);
  for (std::size_t i = 0; i < pattern.events.size(); ++i) {
    const PatternEvent& event = pattern.events[i];
    Put(event, pattern.ticks[i], run);
    thread.Put(event.thread);
    of_host.Put(event.of_host);
    freed_event.Put(event.freed_event);
  }
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer definition(message, field::payload::kStretches);
  definition.add_uint32(field::stretch_def::kId, pattern.id);
  {
    protozero::pbf_writer events(definition, field::stretch_def::kEvents);
    run.AddColumns(events);
  }
  thread.AddTo(definition, field::stretch_def::kThread);
  of_host.AddTo(definition, field::stretch_def::kOfHost);
  freed_event.AddTo(definition, field::stretch_def::kFreedEvent);
}

}  // namespace memoir
