#include "tools/view/compiled/compiled_view.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

SourceLine LineOf(const Compilation& compilation) {
  return {compilation.file, compilation.function.empty() ? "?" : compilation.function, compilation.line};
}

bool AnyCaching(const CompiledFrames& compiled) {
  return std::ranges::any_of(compiled.frames, [](const CompiledFrame& frame) {
    return std::ranges::any_of(frame.by_device, &CompiledBytes::caching);
  });
}

// Sums over the GPUs if `caching` is true, otherwise over host memory.
CompiledBytes SumOf(const CompiledFrame& frame, bool caching) {
  CompiledBytes sum;
  for (const CompiledBytes& bytes : frame.by_device) {
    if (bytes.caching != caching) continue;
    sum.allocations += bytes.allocations;
    sum.allocated_bytes += bytes.allocated_bytes;
    sum.bytes_at_peak += bytes.bytes_at_peak;
    sum.saved_bytes += bytes.saved_bytes;
    sum.compile_peak_bytes += bytes.compile_peak_bytes;
  }
  return sum;
}

std::uint64_t SavedBytesPerCall(std::uint64_t saved, const CompiledFrame& frame) {
  return frame.calls == 0 ? 0 : saved / frame.calls;
}

std::string NameOf(const CompiledFrame& frame, const ShownFiles& files, bool ranks) {
  std::string name = ranks && frame.rank ? fmt::format("rank {} ", *frame.rank) : "";
  name += frame.id.empty() ? "(no number)" : frame.id;
  return Escaped(frame.forward ? name + " " + files.LineText(LineOf(*frame.forward)) : name);
}

ShownFiles FilesOf(const CompiledFrames& compiled) {
  std::vector<std::string_view> files;
  for (const CompiledFrame& frame : compiled.frames) {
    if (frame.forward) files.push_back(frame.forward->file);
  }
  for (const GraphBreaks& breaks : compiled.breaks) files.push_back(breaks.at.file);
  return ShownFiles(files);
}

std::size_t Shown(std::size_t rows, std::size_t top) { return top == 0 ? rows : std::min(rows, top); }

std::string MoreRowsText(std::size_t rows, std::size_t top) {
  if (Shown(rows, top) == rows) return "";
  return fmt::format("  and {} more; --top 0 shows all\n", FormatCount(rows - Shown(rows, top)));
}

std::string Header(std::string_view text, const Terminal& terminal) {
  return "\n" + Painted(terminal, Color::kBold, text) + "\n";
}

std::string FrameTable(const CompiledFrames& compiled, std::size_t top, const Terminal& terminal) {
  const bool caching = AnyCaching(compiled);
  const bool ranks = std::ranges::any_of(
      compiled.frames, [&](const CompiledFrame& frame) { return frame.process != compiled.frames.front().process; });
  const ShownFiles files = FilesOf(compiled);
  TextTable table({"frame", "at peak", "allocated", "saved", "calls", "compiling"});
  table.CutNamesAtEnd();
  const std::size_t shown = Shown(compiled.frames.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    const CompiledFrame& frame = compiled.frames[i];
    const CompiledBytes sum = SumOf(frame, caching);
    table.AddRow({NameOf(frame, files, ranks), FormatBytes(sum.bytes_at_peak), FormatBytes(sum.allocated_bytes),
                  FormatBytes(SavedBytesPerCall(sum.saved_bytes, frame)), FormatCount(frame.calls),
                  FormatBytes(sum.compile_peak_bytes)});
  }
  return table.Render(terminal, 2) + MoreRowsText(compiled.frames.size(), top);
}

// Returns " HEAD: TEXT", wrapped.
std::string Reason(std::string_view head, std::string_view text, const Terminal& terminal) {
  const std::string line = fmt::format("{}: {}", head, Escaped(text));
  return "  " + Wrapped(line, terminal.width, 6) + "\n";
}

std::string RecompilationsText(const CompiledFrames& compiled, std::size_t top, const Terminal& terminal) {
  std::vector<const CompiledFrame*> again;
  for (const CompiledFrame& frame : compiled.frames) {
    if (frame.forward && !(frame.forward->reason + frame.forward->failure).empty()) again.push_back(&frame);
  }
  if (again.empty()) return "";
  const ShownFiles files = FilesOf(compiled);
  std::string text = Header("Compiled again, or not at all", terminal);
  for (std::size_t i = 0; i < Shown(again.size(), top); ++i) {
    const Compilation& forward = *again[i]->forward;
    const std::string head = Escaped(forward.id + " " + files.LineText(LineOf(forward)));
    if (!forward.failure.empty()) text += Reason(head + ", failed", forward.failure, terminal);
    if (!forward.reason.empty()) text += Reason(head, forward.reason, terminal);
  }
  return text + MoreRowsText(again.size(), top);
}

std::string GraphBreaksText(const CompiledFrames& compiled, std::size_t top, const Terminal& terminal) {
  if (compiled.breaks.empty()) return "";
  const ShownFiles files = FilesOf(compiled);
  std::string text = Header("Graph breaks", terminal);
  for (std::size_t i = 0; i < Shown(compiled.breaks.size(), top); ++i) {
    const GraphBreaks& breaks = compiled.breaks[i];
    std::string head = Escaped(files.LineText(LineOf(breaks.at)));
    if (breaks.count > 1) head += fmt::format(" ({} times)", FormatCount(breaks.count));
    text += Reason(head, breaks.at.reason, terminal);
  }
  return text + MoreRowsText(compiled.breaks.size(), top);
}

Json FactsJson(const Compilation& compilation) {
  Json json = Json::object();
  AddLine(json, LineOf(compilation));
  json["reason"] = compilation.reason.empty() ? Json(nullptr) : Json(compilation.reason);
  return json;
}

Json FrameJson(const CompiledFrame& frame) {
  Json json = FactsJson(frame.forward.value_or(Compilation()));
  if (!frame.forward) json["function"] = json["file"] = nullptr;
  json["id"] = frame.id;
  json["rank"] = RankJson(frame.rank);
  json["process"] = frame.process.value;
  const bool failed = frame.forward && !frame.forward->failure.empty();
  json["failure"] = failed ? Json(frame.forward->failure) : Json(nullptr);
  json["calls"] = frame.calls;
  json["devices"] = Json::array();
  for (const CompiledBytes& bytes : frame.by_device) {
    json["devices"].push_back({{"device", bytes.device},
                               {"allocations", bytes.allocations},
                               {"allocated_bytes", bytes.allocated_bytes},
                               {"bytes_at_peak", bytes.bytes_at_peak},
                               {"saved_bytes", bytes.saved_bytes},
                               {"compile_peak_bytes", bytes.compile_peak_bytes}});
  }
  return json;
}

}  // namespace

std::string RenderCompiled(const Capture& capture, const CompiledFrames& compiled, std::size_t top,
                           const Terminal& terminal) {
  std::string text = RenderProgram(capture, terminal);
  const auto line = [&](std::string_view note) { return "  " + Wrapped(note, terminal.width, 2) + "\n"; };
  if (compiled.frames.empty()) {
    text += "The recording contains no code of torch.compile.\n";
  } else {
    text += Header(AnyCaching(compiled) ? "Compiled by torch.compile: its memory of GPUs" : "Compiled by torch.compile",
                   terminal);
    text += FrameTable(compiled, top, terminal);
    text += line(
        "at peak, allocated: of its code, forward and backward. saved: activations for backward, of one call. "
        "compiling: "
        "the most that compiling it took.");
  }
  text += RecompilationsText(compiled, top, terminal) + GraphBreaksText(compiled, top, terminal);
  if (compiled.left_out > 0)
    text += line(fmt::format("{} more than {} frames or graph breaks are left out.", FormatCount(compiled.left_out),
                             FormatCount(CompiledFrames::kMost)));
  if (!compiled.missing.empty()) text += line(compiled.missing);
  return text + "\n" + RenderLosses(capture, compiled.report, terminal);
}

Json CompiledJson(const Capture& capture, const CompiledFrames& compiled, std::size_t top) {
  Json json = CaptureJson(capture, compiled.report, "compiled");
  json["missing"] = compiled.missing;
  json["left_out"] = compiled.left_out;
  json["frames"] = Json::array();
  for (std::size_t i = 0; i < Shown(compiled.frames.size(), top); ++i)
    json["frames"].push_back(FrameJson(compiled.frames[i]));
  json["graph_breaks"] = Json::array();
  for (std::size_t i = 0; i < Shown(compiled.breaks.size(), top); ++i) {
    json["graph_breaks"].push_back(FactsJson(compiled.breaks[i].at));
    json["graph_breaks"].back()["count"] = compiled.breaks[i].count;
  }
  return json;
}

}  // namespace memoir
