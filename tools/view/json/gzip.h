// Bytes as gzip and deflate have them.
#ifndef TOOLS_VIEW_JSON_GZIP_H_
#define TOOLS_VIEW_JSON_GZIP_H_

#include <string>
#include <string_view>

namespace memoir {

// The same bytes give the same file: it holds no time and no name.
std::string Gzip(std::string_view bytes);
// Without gzip's header: what browsers call "deflate-raw".
std::string Deflate(std::string_view bytes);

}  // namespace memoir

#endif  // TOOLS_VIEW_JSON_GZIP_H_
