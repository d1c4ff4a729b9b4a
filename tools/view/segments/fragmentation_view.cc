#include "tools/view/segments/fragmentation_view.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "fmt/format.h"
#include "tools/model/import_source.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/pool_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string Where(PoolId pool, std::uint64_t stream) { return PoolName(pool) + ", stream " + StreamName(stream); }

std::string InstantHeading(const std::string& what, const DeviceSegments& at) {
  std::string text =
      fmt::format("{} {} unusable of {} reserved ({}), largest hole {}, at {}", what, FormatBytes(at.unusable),
                  FormatBytes(at.reserved), FormatShare(at.unusable, at.reserved), FormatBytes(at.largest_hole),
                  FormatMoment(at.ns));
  if (at.step) text += fmt::format(", step {}", *at.step);
  return text;
}

template <class Row, class Cells>
std::string TableOf(std::vector<std::string> titles, const std::vector<Row>& rows, std::size_t top, Cells cells,
                    const Terminal& terminal) {
  TextTable table(std::move(titles));
  const std::size_t shown = top == 0 ? rows.size() : std::min(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) table.AddRow(cells(rows[i]));
  std::string text = table.Render(terminal, 2);
  if (rows.size() > shown) text += fmt::format("  and {} more (--top 0: all)\n", FormatCount(rows.size() - shown));
  return text;
}

// Explains fragmentation and the remedies to first-time readers.
std::string Explanation(const DeviceSegments& at, const Terminal& terminal) {
  const bool expandable =
      std::ranges::any_of(at.segments, [](const SegmentRow& row) { return row.segment.piece.mapped; });
  std::string text =
      "unusable: free memory in pages that cannot go back to the device, because live blocks lie in the same pages or "
      "a private pool keeps them. Only requests of the same pool and stream that fit a hole can use it. To reduce it, "
      "free these live blocks (below) earlier, or allocate them before or after the temporary ones";
  if (!expandable) text += "; or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, which has smaller pages";
  return Wrapped(text, terminal.width, 0) + "\n";
}

std::string PlaceTable(const DeviceSegments& at, const Terminal& terminal) {
  return TableOf(
      {"pool and stream", "unusable", "reserved", "in blocks", "largest hole", "segments"}, at.places, 0,
      [](const PoolRow& place) -> std::vector<std::string> {
        return {Where(place.pool, place.stream), FormatBytes(place.unusable),     FormatBytes(place.reserved),
                FormatBytes(place.used),         FormatBytes(place.largest_hole), FormatCount(place.segments)};
      },
      terminal);
}

std::string Oldest(const Pin& pin) { return pin.from_before ? "from before" : FormatDuration(pin.oldest_ns); }

std::string PinTable(const DeviceSegments& at, std::size_t top, const Terminal& terminal) {
  return TableOf(
      {"live blocks of", "unusable nearby", "segments", "blocks", "bytes", "oldest"}, at.pins, top,
      [](const Pin& pin) -> std::vector<std::string> {
        return {Escaped(pin.name),       FormatBytes(pin.unusable), FormatCount(pin.segments),
                FormatCount(pin.blocks), FormatBytes(pin.bytes),    Oldest(pin)};
      },
      terminal);
}

std::string PinList(const std::vector<Pin>& pins) {
  constexpr std::size_t kShown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, pins.size()); ++i) {
    text += (i == 0 ? "" : ", ") + Shortened(Escaped(pins[i].name), 40) + " " +
            FormatCounted(pins[i].blocks, "block", "blocks");
  }
  if (pins.size() > kShown) text += ", " + FormatCounted(pins.size() - kShown, "other", "others");
  return pins.empty() ? "its private pool" : text;
}

std::vector<const SegmentRow*> ByBytes(const DeviceSegments& at, std::size_t top,
                                       const std::function<std::uint64_t(const SegmentRow&)>& measure) {
  std::vector<const SegmentRow*> rows;
  for (const SegmentRow& row : at.segments) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::ranges::greater(), [&](const SegmentRow* row) { return measure(*row); });
  if (top != 0 && rows.size() > top) rows.resize(top);
  return rows;
}

std::string SegmentTable(const DeviceSegments& at, std::size_t top, const Terminal& terminal) {
  std::vector<const SegmentRow*> rows = ByBytes(at, 0, [](const SegmentRow& row) { return row.segment.unusable; });
  std::erase_if(rows, [](const SegmentRow* row) { return row->segment.unusable == 0; });
  return TableOf(
      {"kept by", "segment", "size", "unusable", "largest hole"}, rows, top,
      [](const SegmentRow* row) -> std::vector<std::string> {
        const MappedSegment& segment = row->segment;
        return {PinList(row->pins), fmt::format("0x{:x}", segment.address), FormatBytes(segment.piece.bytes),
                FormatBytes(segment.unusable), FormatBytes(segment.largest_hole())};
      },
      terminal);
}

// Draws one cell for each equal part of a segment: full, partly full, free, or waiting for other streams.
std::string Bar(const MappedSegment& segment, std::size_t cells) {
  std::string bar;
  const std::uint64_t size = segment.piece.bytes;
  std::size_t first = 0;  // the first block that may reach into the cell
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const auto at = [&](std::size_t i) {
      return segment.address + static_cast<std::uint64_t>(static_cast<double>(size) * static_cast<double>(i) /
                                                          static_cast<double>(cells));
    };
    const std::uint64_t begin = at(cell), end = std::max(at(cell + 1), begin + 1);
    std::uint64_t used = 0;
    bool waiting = false;
    while (first < segment.blocks.size() &&
           segment.blocks[first].block.address + segment.blocks[first].block.bytes <= begin)
      ++first;
    for (std::size_t i = first; i < segment.blocks.size() && segment.blocks[i].block.address < end; ++i) {
      const Block& block = segment.blocks[i].block;
      used += std::min(end, block.address + block.bytes) - std::max(begin, block.address);
      waiting = waiting || segment.blocks[i].waiting;
    }
    bar += waiting ? "~" : used == 0 ? "·" : used >= end - begin ? "█" : "▒";
  }
  return bar;
}

std::string SegmentLine(const MappedSegment& segment, const Terminal& terminal) {
  const std::string head =
      fmt::format("  0x{:x} {} ", segment.address, PaddedLeft(FormatBytes(segment.piece.bytes), 10));
  const std::uint64_t free = segment.piece.bytes - segment.used;
  std::string tail = free == 0 ? " full" : " " + FormatBytes(free) + " free";
  constexpr std::size_t kTail = 46, kMost = 64, kLeast = 6;
  const std::size_t taken = DisplayWidth(head) + kTail;
  const std::size_t room = std::min(kMost, terminal.width > taken + kLeast ? terminal.width - taken : kLeast);
  if (segment.holes.size() > 1) {
    const std::string holes =
        fmt::format(" in {} holes, largest {}", segment.holes.size(), FormatBytes(segment.largest_hole()));
    if (DisplayWidth(head) + room + tail.size() + holes.size() <= terminal.width) tail += holes;
  }
  return head + Bar(segment, room) + tail + "\n";
}

std::string PlaceHeading(const PoolRow& place, bool small, bool mapped) {
  return fmt::format("{}{}{}", Where(place.pool, place.stream), small ? ", blocks up to 1 MiB" : "",
                     mapped ? ", expandable" : "");
}

std::string Lines(const MappedDevice& device, std::size_t top, const Terminal& terminal) {
  std::vector<const SegmentRow*> rows =
      ByBytes(device.at, top, [](const SegmentRow& row) { return row.segment.piece.bytes - row.segment.used; });
  const std::size_t left_out = device.at.segments.size() - rows.size();
  std::ranges::sort(rows, {}, [](const SegmentRow* row) {
    const ReservedPiece& piece = row->segment.piece;
    return std::tuple(row->segment.pool(), piece.stream, piece.small, row->segment.address);
  });
  std::string text, heading;
  for (const SegmentRow* row : rows) {
    const ReservedPiece& piece = row->segment.piece;
    const std::string own = PlaceHeading({row->segment.pool(), piece.stream}, piece.small, piece.mapped);
    if (own != heading) text += " " + own + "\n";
    heading = own;
    text += SegmentLine(row->segment, terminal);
  }
  if (left_out > 0)
    text +=
        fmt::format("  and {} with less free bytes (--top 0: all)\n", FormatCounted(left_out, "segment", "segments"));
  return text;
}

Json PinsJson(const std::vector<Pin>& pins) {
  Json json = Json::array();
  for (const Pin& pin : pins) {
    json.push_back({{"name", pin.name},
                    {"blocks", pin.blocks},
                    {"bytes", pin.bytes},
                    {"segments", pin.segments},
                    {"unusable_bytes", pin.unusable},
                    {"oldest_ns", pin.from_before ? Json(nullptr) : Json(pin.oldest_ns)}});
  }
  return json;
}

std::string Address(std::uint64_t address) { return fmt::format("0x{:x}", address); }

Json SegmentJson(const SegmentRow& row) {
  const MappedSegment& segment = row.segment;
  Json json = {{"address", Address(segment.address)},
               {"bytes", segment.piece.bytes},
               {"pool", PoolJson(segment.pool())},
               {"stream", StreamName(segment.piece.stream)},
               {"small", segment.piece.small},
               {"expandable", segment.piece.mapped},
               {"used_bytes", segment.used},
               {"unusable_bytes", segment.unusable},
               {"largest_hole_bytes", segment.largest_hole()}};
  json["blocks"] = Json::array();
  for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
    const SegmentBlock& there = segment.blocks[i];
    Json block = {{"address", Address(there.block.address)},
                  {"bytes", there.block.bytes},
                  {"state", there.waiting ? "waiting" : "allocated"}};
    if (!there.waiting) {
      block["requested_bytes"] = there.block.requested_bytes;
      block["operator"] = row.facts[i].operator_name;
      block["module"] = row.facts[i].module;
      block["allocated_time_ns"] = row.facts[i].since_ns;
    }
    json["blocks"].push_back(std::move(block));
  }
  json["holes"] = Json::array();
  for (const Hole& hole : segment.holes)
    json["holes"].push_back({{"address", Address(hole.address)}, {"bytes", hole.bytes}});
  return json;
}

Json InstantJson(const DeviceSegments& at) {
  Json json = {{"time_ns", at.ns},
               {"step", at.step ? Json(*at.step) : Json(nullptr)},
               {"reserved_bytes", at.reserved},
               {"used_bytes", at.used},
               {"unusable_bytes", at.unusable},
               {"largest_hole_bytes", at.largest_hole}};
  json["places"] = Json::array();
  for (const PoolRow& place : at.places) {
    json["places"].push_back({{"pool", PoolJson(place.pool)},
                              {"stream", StreamName(place.stream)},
                              {"segments", place.segments},
                              {"reserved_bytes", place.reserved},
                              {"used_bytes", place.used},
                              {"unusable_bytes", place.unusable},
                              {"largest_hole_bytes", place.largest_hole}});
  }
  return json;
}

Json PinnedJson(const DeviceSegments& at) {
  Json json = InstantJson(at);
  json["pinned_by"] = PinsJson(at.pins);
  json["segments"] = Json::array();
  for (const SegmentRow& row : at.segments) {
    const MappedSegment& segment = row.segment;
    if (segment.unusable == 0) continue;
    json["segments"].push_back({{"address", Address(segment.address)},
                                {"bytes", segment.piece.bytes},
                                {"pool", PoolJson(segment.pool())},
                                {"stream", StreamName(segment.piece.stream)},
                                {"unusable_bytes", segment.unusable},
                                {"largest_hole_bytes", segment.largest_hole()},
                                {"pinned_by", PinsJson(row.pins)}});
  }
  return json;
}

template <class Device>
Json DeviceJson(const Device& device) {
  return {{"device", device.name}, {"rank", RankJson(device.rank)}, {"process", device.process.value}};
}

}  // namespace

std::string RenderFragmentation(const Capture& capture, const Fragmentation& fragmentation, std::size_t top,
                                const Terminal& terminal) {
  std::string text;
  for (const FragmentedDevice& device : fragmentation.devices) {
    const std::string label = DeviceLabel(capture, device.name, device.process);
    const std::string what = label + ": at most " + InstantHeading("", device.peak).substr(1);
    if (!text.empty()) text += '\n';
    text +=
        Painted(terminal, IsFragmented(device.peak) ? Color::kRed : Color::kBold, Wrapped(what, terminal.width, 0)) +
        "\n";
    const bool still = device.end.unusable == device.peak.unusable && device.end.reserved == device.peak.reserved;
    const std::string end = still ? "the same at the end" : InstantHeading("at the end", device.end);
    text += Wrapped(label + ": " + end, terminal.width, 0) + "\n";
    if (device.peak.unusable == 0) continue;
    text += Explanation(device.peak, terminal);
    text += "At the maximum, by pool and stream\n" + PlaceTable(device.peak, terminal);
    text +=
        Wrapped("Live blocks in the same pages (a segment with several of them counts for each)", terminal.width, 2) +
        "\n" + PinTable(device.peak, top, terminal);
    text += "Segments with unusable memory\n" + SegmentTable(device.peak, top, terminal);
  }
  if (!HasSegments(capture)) return text + Wrapped(NotInImport(capture, "segments"), terminal.width, 0) + "\n";
  const std::string unknown = CudaMemoryNotKnown(fragmentation.report);
  if (!unknown.empty()) return text + Wrapped("incomplete: " + unknown, terminal.width, 0) + "\n";
  return text.empty() ? "no allocation of torch's CUDA allocator is recorded\n" : text;
}

bool HasFragmentedDevice(const Fragmentation& fragmentation) {
  return std::ranges::any_of(fragmentation.devices,
                             [](const FragmentedDevice& device) { return IsFragmented(device.peak); });
}

bool IsFragmentationKnown(const Capture& capture, const Fragmentation& fragmentation) {
  return HasSegments(capture) && (!fragmentation.devices.empty() || CudaMemoryNotKnown(fragmentation.report).empty());
}

std::string FragmentationLine(const Capture& capture, const Fragmentation& fragmentation) {
  if (!HasSegments(capture)) return NotInImport(capture, "segments");
  const std::string unknown = CudaMemoryNotKnown(fragmentation.report);
  if (!IsFragmentationKnown(capture, fragmentation)) return "not known: " + unknown;
  if (fragmentation.devices.empty()) return "nothing was reserved by torch's CUDA allocator";
  const auto most = std::ranges::max_element(fragmentation.devices, {},
                                             [](const FragmentedDevice& device) { return device.peak.unusable; });
  return fmt::format("at most {} of {} reserved were unusable{}", FormatBytes(most->peak.unusable),
                     FormatBytes(most->peak.reserved), unknown.empty() ? "" : ", as far as recorded: " + unknown);
}

Json FragmentationJson(const Capture& capture, const Fragmentation& fragmentation) {
  Json json = CaptureJson(capture, fragmentation.report, "check_frag");
  json["devices"] = Json::array();
  for (const FragmentedDevice& device : fragmentation.devices) {
    Json one = DeviceJson(device);
    one["finding"] = IsFragmented(device.peak);
    one["peak"] = PinnedJson(device.peak);
    one["end"] = PinnedJson(device.end);
    one["over_time"] = Json::array();
    for (const UnusablePoint& point : device.over_time) {
      one["over_time"].push_back(
          {{"time_ns", point.ns}, {"unusable_bytes", point.unusable}, {"reserved_bytes", point.reserved}});
    }
    json["devices"].push_back(std::move(one));
  }
  return json;
}

std::string RenderSegments(const Capture& capture, const SegmentMaps& maps, const std::string& instant, std::size_t top,
                           const Terminal& terminal) {
  std::string text = RenderProgram(capture, terminal);
  for (const MappedDevice& device : maps.devices) {
    const DeviceSegments& at = device.at;
    const std::string heading =
        fmt::format("Segments at {} of {}: {}, {} reserved, {} in blocks, {} unusable, at {}", Escaped(instant),
                    DeviceLabel(capture, device.name, device.process), FormatCount(at.segments.size()),
                    FormatBytes(at.reserved), FormatBytes(at.used), FormatBytes(at.unusable), FormatMoment(at.ns));
    text += "\n" + Painted(terminal, Color::kBold, Wrapped(heading, terminal.width, 0)) + "\n" +
            Lines(device, top, terminal);
  }
  if (!HasSegments(capture)) return text + Wrapped(NotInImport(capture, "segments"), terminal.width, 0) + "\n";
  if (maps.devices.empty()) return text + "torch's CUDA allocator had no segment at that moment.\n";
  constexpr char kLegend[] = "█ in blocks, ▒ partly in blocks, · free, ~ freed but waiting for other streams";
  return text + "\n" + Wrapped(kLegend, terminal.width, 2) + "\n" + RenderLosses(capture, maps.report, terminal);
}

Json SegmentsJson(const Capture& capture, const SegmentMaps& maps, const std::string& instant) {
  Json json = CaptureJson(capture, maps.report, "segments");
  json["at"] = instant;
  json["devices"] = Json::array();
  for (const MappedDevice& device : maps.devices) {
    Json one = DeviceJson(device);
    one.update(InstantJson(device.at));
    one["segments"] = Json::array();
    for (const SegmentRow& row : device.at.segments) one["segments"].push_back(SegmentJson(row));
    json["devices"].push_back(std::move(one));
  }
  return json;
}

}  // namespace memoir
