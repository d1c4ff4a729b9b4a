// Changes what a payload says and leaves its form whole: no checksum, no length and no count of a column tells that
// something is wrong.
#ifndef TESTS_FUZZ_MUTATED_FIELDS_H_
#define TESTS_FUZZ_MUTATED_FIELDS_H_

#include <cstdint>
#include <functional>
#include <string>

#include <google/protobuf/message.h>

#include "memoir/v1/capture.pb.h"

namespace memoir::testing {

using Random = std::function<std::uint64_t()>;

// Gives one field of the message, or of one inside it, another value: ids, sizes, addresses, text.
void MutateField(google::protobuf::Message* message, const Random& random);

// The part with some fields of one payload changed, or of what stands around it, and all checksums made right again.
std::string MutatePart(const std::string& part, const Random& random);

// The part with each payload changed and sealed again.
std::string ChangePayloads(const std::string& part, const std::function<void(v1::Payload*)>& change);

}  // namespace memoir::testing

#endif  // TESTS_FUZZ_MUTATED_FIELDS_H_
