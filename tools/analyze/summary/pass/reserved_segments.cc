#include "tools/analyze/summary/pass/reserved_segments.h"

namespace memoir {

void ReservedSegments::AddSegment(const SegmentEvent& event) {
  const Block& segment = *event.segment;
  shared_.table.device(segment.device, event.process);
  if (shared_.in_window() && event.grows() && shared_.grouping.NeedsTheBlock()) {
    new_segments_.push_back(segment);
  } else if (shared_.in_window() && event.grows()) {
    CountForOwnGroup(segment, event.process);
  }
  caching_.NoteMemory(event, segment.device);
}

void ReservedSegments::CountForOwnGroup(const Block& segment, ProcessId process) {
  const Group group = shared_.grouping.GroupOf(segment, process, shared_.dictionary());
  shared_.table.AddReserved(segment.device, process, CellOf(group, false), segment.bytes);
}

void ReservedSegments::CountSegmentsAround(const Block& block, ProcessId process, CellNumber cell) {
  std::erase_if(new_segments_, [&](const Block& segment) {
    const bool inside = block.device == segment.device && block.address >= segment.address &&
                        block.address - segment.address < segment.bytes;
    if (inside) shared_.table.AddReserved(segment.device, process, cell, segment.bytes);
    return inside;
  });
}

void ReservedSegments::EndProcess(ProcessId process) {
  for (const Block& segment : new_segments_) CountForOwnGroup(segment, process);
  new_segments_.clear();
}

}  // namespace memoir
