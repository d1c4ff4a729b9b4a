// Bytes as gzip and deflate have them.
#ifndef TOOLS_VIEW_JSON_GZIP_H_
#define TOOLS_VIEW_JSON_GZIP_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace memoir {

// The same bytes give the same file: it holds no time and no name.
std::string Gzip(std::string_view bytes);
// Without gzip's header: what browsers call "deflate-raw".
std::string Deflate(std::string_view bytes);

bool IsGzip(std::string_view bytes);
// InvalidArgument: `bytes` are no whole gzip file. ResourceExhausted: they are of more than `most` bytes.
absl::StatusOr<std::string> Gunzip(std::string_view bytes, std::size_t most);

}  // namespace memoir

#endif  // TOOLS_VIEW_JSON_GZIP_H_
