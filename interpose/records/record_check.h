// Checks that bytes of a ring are valid records. Readers of the ring check the length of a record only here.
#ifndef INTERPOSE_RECORDS_RECORD_CHECK_H_
#define INTERPOSE_RECORDS_RECORD_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// Returns the bytes of the record at `at`. 0 if the record does not fit into `available` bytes, has an unknown kind, or
// contains a length that exceeds the record.
std::size_t CheckedRecordBytes(const std::uint8_t* at, std::size_t available);

// Returns the bytes of the valid records at the start of [begin, begin + available), up to the first invalid one.
std::size_t CheckedRunBytes(const std::uint8_t* begin, std::size_t available);

}  // namespace memoir

#endif  // INTERPOSE_RECORDS_RECORD_CHECK_H_
