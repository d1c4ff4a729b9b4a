// `memoir live --prometheus`: the text format that Prometheus scrapes and node_exporter's textfile collector takes.
#ifndef TOOLS_VIEW_LIVE_LIVE_PROMETHEUS_H_
#define TOOLS_VIEW_LIVE_LIVE_PROMETHEUS_H_

#include <string>

#include "tools/analyze/live/live_picture.h"

namespace memoir {

// Every metric with its HELP and TYPE, once; names and labels in docs/live.md.
std::string LivePrometheus(const LivePicture& picture);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LIVE_PROMETHEUS_H_
