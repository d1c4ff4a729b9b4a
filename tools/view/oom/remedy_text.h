// What would have made room for a request that was refused, as far as the recording tells.
#ifndef TOOLS_VIEW_OOM_REMEDY_TEXT_H_
#define TOOLS_VIEW_OOM_REMEDY_TEXT_H_

#include <string>

#include "tools/analyze/summary/summary.h"

namespace memoir {

// "" where the recording tells of nothing.
std::string WhatHelps(const OutOfMemory& error, const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_REMEDY_TEXT_H_
