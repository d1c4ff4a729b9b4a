// The numbers of a reading, from where each comes.
#ifndef TRACKER_HOST_HOST_NUMBERS_H_
#define TRACKER_HOST_HOST_NUMBERS_H_

#include "interpose/ring_record.h"
#include "tracker/host/memory_group.h"

namespace memoir {

HostNumbers NothingKnown();
// What is the same for all processes of a group, or of the machine.
void ReadSurroundings(const MemoryGroup& group, HostNumbers* numbers);
// Of this process, but for what may take long: malloc's, its proportional bytes and its children.
void ReadOwn(HostNumbers* numbers);

}  // namespace memoir

#endif  // TRACKER_HOST_HOST_NUMBERS_H_
