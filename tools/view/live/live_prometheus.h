// `memoir live --prometheus`: the text format that Prometheus and node_exporter's textfile collector read.
#ifndef TOOLS_VIEW_LIVE_LIVE_PROMETHEUS_H_
#define TOOLS_VIEW_LIVE_LIVE_PROMETHEUS_H_

#include <string>

#include "tools/analyze/live/live_figures.h"

namespace memoir {

// Returns each metric that has a value once, with HELP and TYPE. docs/live.md describes names and labels.
std::string LivePrometheus(const LiveFigures& figures);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LIVE_PROMETHEUS_H_
