// Fragmentation, and the map of segments, as text and as JSON.
#ifndef TOOLS_VIEW_SEGMENTS_FRAGMENTATION_VIEW_H_
#define TOOLS_VIEW_SEGMENTS_FRAGMENTATION_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/segments/fragmentation.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `top`: rows of a table; 0: all.
std::string RenderFragmentation(const Capture& capture, const Fragmentation& fragmentation, std::size_t top,
                                const Terminal& terminal);
// FragmentationLine returns one line, which states if segments are unknown or partly known. IsFragmentationKnown
// returns true if some segments are known.
std::string FragmentationLine(const Capture& capture, const Fragmentation& fragmentation);
bool IsFragmentationKnown(const Capture& capture, const Fragmentation& fragmentation);
bool HasFragmentedDevice(const Fragmentation& fragmentation);
Json FragmentationJson(const Capture& capture, const Fragmentation& fragmentation);

// `instant`: the selected instant in words, such as "the peak". `top`: how many segments of a device are shown; 0: all.
// These are the segments with the most free bytes.
std::string RenderSegments(const Capture& capture, const SegmentMaps& maps, const std::string& instant, std::size_t top,
                           const Terminal& terminal);
Json SegmentsJson(const Capture& capture, const SegmentMaps& maps, const std::string& instant);

}  // namespace memoir

#endif  // TOOLS_VIEW_SEGMENTS_FRAGMENTATION_VIEW_H_
