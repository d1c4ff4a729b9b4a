#include "interpose/system/own_work.h"

namespace memoir {

extern "C" {
constinit thread_local std::uint32_t memoir_own_work = 0;
}

}  // namespace memoir
