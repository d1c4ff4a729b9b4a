// Decodes numbers that a capture stores plus 1, and values of an enum. A newer or damaged capture may contain values
// that the enum lacks.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_RECORDED_NUMBERS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_RECORDED_NUMBERS_H_

#include <cstdint>
#include <optional>

#include "memoir/v1/capture.pb.h"

namespace memoir {

// Decodes a value that captures store plus 1. 0 means unknown.
inline std::optional<std::uint64_t> KnownNumber(std::uint64_t plus_one) {
  return plus_one == 0 ? std::nullopt : std::optional(plus_one - 1);
}

inline v1::ReadingCause ReadingCauseOf(std::uint32_t number) {
  return v1::ReadingCause_IsValid(static_cast<int>(number)) ? static_cast<v1::ReadingCause>(number)
                                                            : v1::READING_CAUSE_UNKNOWN;
}

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_RECORDED_NUMBERS_H_
