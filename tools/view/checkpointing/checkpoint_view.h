// The effect of checkpointing modules on the peak of each device: as text and JSON.
#ifndef TOOLS_VIEW_CHECKPOINTING_CHECKPOINT_VIEW_H_
#define TOOLS_VIEW_CHECKPOINTING_CHECKPOINT_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Prints the `top` rows that would free the most bytes; 0: all. Omits host memory if there are GPUs.
std::string RenderCheckpointing(const Capture& capture, const Checkpointing& checkpointing, std::size_t top,
                                const Terminal& terminal);
Json CheckpointingJson(const Capture& capture, const Checkpointing& checkpointing, std::size_t top);

// Returns one line for another view, about the row that would free the most bytes. Empty if no row would free enough
// (DeviceRow::checkpointing).
std::string CheckpointLine(const Capture& capture, const DeviceRow& device, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_CHECKPOINTING_CHECKPOINT_VIEW_H_
