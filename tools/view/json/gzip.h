// Compression with gzip and deflate.
#ifndef TOOLS_VIEW_JSON_GZIP_H_
#define TOOLS_VIEW_JSON_GZIP_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace memoir {

// Equal bytes give equal files: the file contains no time and no name.
std::string Gzip(std::string_view bytes);
// Returns deflate data without a header, which browsers call "deflate-raw".
std::string Deflate(std::string_view bytes);

bool IsGzip(std::string_view bytes);
// Decompresses a gzip file. InvalidArgument if `bytes` is not a complete gzip file. ResourceExhausted if its content
// has more than `most` bytes.
absl::StatusOr<std::string> Gunzip(std::string_view bytes, std::size_t most);

}  // namespace memoir

#endif  // TOOLS_VIEW_JSON_GZIP_H_
