// A file as gzip has it.
#ifndef TOOLS_VIEW_JSON_GZIP_H_
#define TOOLS_VIEW_JSON_GZIP_H_

#include <string>
#include <string_view>

namespace memoir {

// The same bytes give the same file: it holds no time and no name.
std::string Gzip(std::string_view bytes);

}  // namespace memoir

#endif  // TOOLS_VIEW_JSON_GZIP_H_
