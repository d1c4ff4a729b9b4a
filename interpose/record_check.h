// Whether bytes that claim to be records are. The one place that knows how long a record must be.
#ifndef INTERPOSE_RECORD_CHECK_H_
#define INTERPOSE_RECORD_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring_record.h"

namespace memoir {

// Bytes of the record at `at`, or 0 when it does not fit into `available`, is of no known kind, or holds a length
// that leaves it.
std::size_t CheckedRecordBytes(const std::uint8_t* at, std::size_t available);

// Bytes of the unbroken run of good records at the start of [begin, begin + available).
std::size_t CheckedRunBytes(const std::uint8_t* begin, std::size_t available);

}  // namespace memoir

#endif  // INTERPOSE_RECORD_CHECK_H_
