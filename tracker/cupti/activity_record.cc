#include "tracker/cupti/activity_record.h"

#include <cupti.h>

#include <cstddef>

namespace memoir {
namespace {

// Two versions of CUPTI's struct for a kernel: the oldest one in CUDA 12, and the newest one in this build's headers.
// The fields that are read have the same offset in both structs.
using OldKernel = CUpti_ActivityKernel8;
using NewKernel = CUpti_ActivityKernel10;
#define MEMOIR_SAME_PLACE(Old, New, field) static_assert(offsetof(Old, field) == offsetof(New, field))
MEMOIR_SAME_PLACE(OldKernel, NewKernel, start);
MEMOIR_SAME_PLACE(OldKernel, NewKernel, end);
MEMOIR_SAME_PLACE(OldKernel, NewKernel, deviceId);
MEMOIR_SAME_PLACE(OldKernel, NewKernel, streamId);
MEMOIR_SAME_PLACE(OldKernel, NewKernel, correlationId);
MEMOIR_SAME_PLACE(OldKernel, NewKernel, name);
MEMOIR_SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, bytes);
MEMOIR_SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, start);
MEMOIR_SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, streamId);
MEMOIR_SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, correlationId);
MEMOIR_SAME_PLACE(CUpti_ActivityMemset3, CUpti_ActivityMemset4, bytes);
MEMOIR_SAME_PLACE(CUpti_ActivityMemset3, CUpti_ActivityMemset4, start);
MEMOIR_SAME_PLACE(CUpti_ActivityMemset3, CUpti_ActivityMemset4, streamId);
MEMOIR_SAME_PLACE(CUpti_ActivityMemset3, CUpti_ActivityMemset4, correlationId);
#undef MEMOIR_SAME_PLACE

// Returns cudaMemcpyKind plus 1; 0 if CUPTI does not report the kind. CUDA arrays count as device memory.
std::uint8_t CopyKindOf(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return 1;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return 2;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return 3;
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return 4;
    default:
      return 0;
  }
}

template <class Record>
void TakeCommon(const Record& record, ActivityRun* run) {
  run->device = record.deviceId;
  run->stream = record.streamId;
  run->correlation = record.correlationId;
  run->start = record.start;
  run->end = record.end;
}

}  // namespace

bool ReadActivity(const void* record, ActivityRun* run) {
  *run = {};
  switch (static_cast<const CUpti_Activity*>(record)->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = *static_cast<const NewKernel*>(record);
      TakeCommon(kernel, run);
      run->symbol = kernel.name;
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = *static_cast<const CUpti_ActivityMemcpy6*>(record);
      TakeCommon(copy, run);
      run->kind = RunKind::kCopy;
      run->bytes = copy.bytes;
      run->copy_kind = CopyKindOf(copy.copyKind);
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = *static_cast<const CUpti_ActivityMemset4*>(record);
      TakeCommon(fill, run);
      run->kind = RunKind::kFill;
      run->bytes = fill.bytes;
      return true;
    }
    default:
      return false;
  }
}

std::uint64_t TickOf(std::uint64_t ns, const ClockPair& pair, double ticks_per_ns) {
  const bool before = ns < pair.ns;
  const auto ticks =
      static_cast<std::uint64_t>(static_cast<double>(before ? pair.ns - ns : ns - pair.ns) * ticks_per_ns);
  if (!before) return pair.tick + ticks;
  return pair.tick > ticks ? pair.tick - ticks : 0;
}

}  // namespace memoir
