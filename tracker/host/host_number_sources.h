// Reads the numbers of a host sample (host_readings.h) from /proc and from the cgroup.
#ifndef TRACKER_HOST_HOST_NUMBER_SOURCES_H_
#define TRACKER_HOST_HOST_NUMBER_SOURCES_H_

#include "interpose/records/ring_record.h"
#include "tracker/host/memory_group.h"

namespace memoir {

// Returns numbers that are all kNotKnown.
HostNumbers UnknownHostNumbers();
// Reads the numbers that all processes of the cgroup, or of the machine, share.
void ReadSurroundings(const MemoryGroup& group, HostNumbers* numbers);
// Reads the numbers of this process, except for those that are slow to read: malloc, proportional bytes and children.
void ReadOwnMemory(HostNumbers* numbers);

}  // namespace memoir

#endif  // TRACKER_HOST_HOST_NUMBER_SOURCES_H_
