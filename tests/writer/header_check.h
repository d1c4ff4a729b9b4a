// The header of a payload, as in docs/capture_format.md.
#ifndef TESTS_WRITER_HEADER_CHECK_H_
#define TESTS_WRITER_HEADER_CHECK_H_

#include <cstdint>
#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir::test {

// "" or what is wrong. `bytes`: of the chunk's message. `recording`: of the chunks before; 0 at first.
std::string WhatIsWrongWithHeader(const memoir::v1::Chunk& chunk, const std::string& bytes, std::uint64_t* recording);

}  // namespace memoir::test

#endif  // TESTS_WRITER_HEADER_CHECK_H_
