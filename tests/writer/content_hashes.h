// The hashes of a capture's definitions, as docs/capture_format.md has them.
#ifndef TESTS_WRITER_CONTENT_HASHES_H_
#define TESTS_WRITER_CONTENT_HASHES_H_

#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir::test {

std::string Canonical(const std::string& bytes);
std::string NameHash(const memoir::v1::NameDef& name);
std::string LayoutHash(const memoir::v1::LayoutDef& layout);

}  // namespace memoir::test

#endif  // TESTS_WRITER_CONTENT_HASHES_H_
