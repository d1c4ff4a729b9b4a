// CUPTI's functions, as the process has them: nothing of CUPTI is linked.
//
// They are where calls of the program's go: of the first loaded object that has them, so that on the simulated device
// it is that one's. Where none is loaded, the library beside CUDA's runtime is. Any thread that holds no lock of the
// loader's.
#ifndef TRACKER_CUPTI_CUPTI_LIBRARY_H_
#define TRACKER_CUPTI_CUPTI_LIBRARY_H_

#include <cupti.h>

#include <cstdint>
#include <string>

namespace memoir {

// Each may be missing.
struct CuptiLibrary {
#define MEMOIR_CUPTI_FUNCTIONS(X)                                                                                    \
  X(GetVersion)                                                                                                      \
  X(GetResultString)                                                                                                 \
  X(Subscribe)                                                                                                       \
  X(Unsubscribe) X(EnableCallback) X(GetTimestamp) X(ActivityRegisterCallbacks) X(ActivityEnable) X(ActivityDisable) \
      X(ActivityFlushAll) X(ActivityFlushPeriod) X(ActivityGetNextRecord) X(ActivityGetNumDroppedRecords)
#define MEMOIR_CUPTI_FUNCTION(name) decltype(&cupti##name) name = nullptr;
  MEMOIR_CUPTI_FUNCTIONS(MEMOIR_CUPTI_FUNCTION)
#undef MEMOIR_CUPTI_FUNCTION
};

// CUDA 12's. Before it a kernel's record is another.
inline constexpr std::uint32_t kOldestCupti = 19;

// Why there is none that can be used, one line; "": all of `library` is there.
std::string FindCupti(CuptiLibrary* library);

// "cuptiSubscribe: CUPTI_ERROR_NOT_INITIALIZED".
std::string WhatCuptiSays(const CuptiLibrary& library, const char* call, CUptiResult result);

}  // namespace memoir

#endif  // TRACKER_CUPTI_CUPTI_LIBRARY_H_
