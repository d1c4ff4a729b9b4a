// CUPTI, with which torch's profiler observes a GPU. This stand-in refuses the profiler's first call, so the profiler
// continues with the CPU alone. The real CUPTI queries the driver for private tables. If the driver refuses them, the
// CUPTI of CUDA 13.2 (torch 2.15) calls itself until the stack overflows.
//
// The functions that torch imports are declared by hand, so that no build needs CUPTI's headers.
#include <cstddef>
#include <cstdint>

#include "simcuda/api/exported.h"

namespace {

constexpr int kSuccess = 0, kNotSupported = 27;  // as CUptiResult numbers them

}  // namespace

SIMULATED int cuptiGetVersion(std::uint32_t* version) {
  *version = 0;
  return kNotSupported;
}

SIMULATED int cuptiGetResultString(int, const char** text) {
  *text = "CUPTI_ERROR_NOT_SUPPORTED: this GPU is simulated";
  return kSuccess;
}

SIMULATED int cuptiSubscribe(void** subscriber, void*, void*) {
  *subscriber = nullptr;
  return kNotSupported;
}

SIMULATED int cuptiGetCallbackName(int, std::uint32_t, const char** name) {
  *name = nullptr;
  return kNotSupported;
}

SIMULATED int cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, void** record) {
  *record = nullptr;
  return kNotSupported;
}

SIMULATED int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  *dropped = 0;
  return kNotSupported;
}

SIMULATED int cuptiActivityPopExternalCorrelationId(int, std::uint64_t* id) {
  if (id != nullptr) *id = 0;
  return kNotSupported;
}

SIMULATED int cuptiActivityDisable(int) { return kNotSupported; }
SIMULATED int cuptiActivityEnable(int) { return kNotSupported; }
SIMULATED int cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) { return kNotSupported; }
SIMULATED int cuptiActivityEnableDriverApi(std::uint32_t, std::uint8_t) { return kNotSupported; }
SIMULATED int cuptiActivityEnableRuntimeApi(std::uint32_t, std::uint8_t) { return kNotSupported; }
SIMULATED int cuptiActivityFlushAll(std::uint32_t) { return kNotSupported; }
SIMULATED int cuptiActivityPushExternalCorrelationId(int, std::uint64_t) { return kNotSupported; }
SIMULATED int cuptiActivityRegisterCallbacks(void*, void*) { return kNotSupported; }
SIMULATED int cuptiActivityRegisterTimestampCallback(void*) { return kNotSupported; }
SIMULATED int cuptiActivitySetAttribute(int, std::size_t*, void*) { return kNotSupported; }
SIMULATED int cuptiEnableCallback(std::uint32_t, void*, int, std::uint32_t) { return kNotSupported; }
SIMULATED int cuptiEnableDomain(std::uint32_t, void*, int) { return kNotSupported; }
SIMULATED int cuptiFinalize() { return kNotSupported; }
SIMULATED int cuptiUnsubscribe(void*) { return kNotSupported; }
