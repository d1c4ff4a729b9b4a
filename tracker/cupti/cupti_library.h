// Finds CUPTI's functions in this process, because Memoir does not link CUPTI.
//
// The first loaded object that defines CUPTI's functions provides all of them, because this object also receives the
// program's calls. With a simulated device, this object is the simulated device's library. If no loaded object defines
// the functions, CUPTI is loaded from the folder of CUDA's runtime or from the loader's usual folders. Call FindCupti
// on a thread that holds no lock of the loader.
#ifndef TRACKER_CUPTI_CUPTI_LIBRARY_H_
#define TRACKER_CUPTI_CUPTI_LIBRARY_H_

#include <cupti.h>

#include <cstdint>
#include <string>

namespace memoir {

// A function is nullptr if the library lacks it.
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

// The oldest version of CUPTI that Memoir can use: the version in CUDA 12. Earlier versions have another struct for the
// record of a kernel.
inline constexpr std::uint32_t kOldestCupti = 19;

// Fills `library`. Returns one line with the reason why CUPTI cannot be used. Empty if `library` is complete.
std::string FindCupti(CuptiLibrary* library);

// Returns the text of an error, such as "cuptiSubscribe: CUPTI_ERROR_NOT_INITIALIZED".
std::string CuptiErrorText(const CuptiLibrary& library, const char* call, CUptiResult result);

}  // namespace memoir

#endif  // TRACKER_CUPTI_CUPTI_LIBRARY_H_
