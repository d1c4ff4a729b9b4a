// A function of string streams that g++ 12's headers expect in libstdc++, and that the older libstdc++ of a wheel lacks
// (docs/decisions/0008-one-wheel.md). Compiled into each target that includes torch's headers. torch before 2.7 uses
// the old std::string, which needs nothing of this file.
#include <sstream>
#include <string>

#if _GLIBCXX_USE_CXX11_ABI
template std::string std::stringbuf::str() const&;
#endif
