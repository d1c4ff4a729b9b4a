#include "tools/view/accounting/balance_view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fmt/format.h"
#include "tools/model/import_source.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// A note explains bytes without an owner only if they are more than 1/1000 of the used bytes.
constexpr std::uint64_t kWorthANote = 1000;

std::uint64_t Size(std::int64_t bytes) {
  return bytes < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(bytes) : static_cast<std::uint64_t>(bytes);
}

bool IsWorthANote(const DeviceBalance& device) {
  return device.unexplained && Size(*device.unexplained) + device.from_before > device.used.value_or(0) / kWorthANote;
}

std::string Label(const Capture& capture, const DeviceBalance& device) {
  std::string label = DeviceLabel(capture, device.name, device.process);
  if (!device.product.empty()) label += ", " + Escaped(device.product);
  const bool simulated = !capture.processes()[device.process.value].info.simulated_device().empty();
  return label + (simulated ? ", SIMULATED" : "");
}

std::string Headline(const Capture& capture, const DeviceBalance& device, std::string_view instant) {
  std::string when = fmt::format("at {}", FormatMoment(device.ns));
  if (device.step) when += fmt::format(", step {}", *device.step);
  if (!device.used) {
    return fmt::format("{}: used memory not known, because no sample of the device is recorded; {}",
                       Label(capture, device), when);
  }
  return fmt::format("{}: {} used of {}, {} explained; {} {}", Label(capture, device), FormatBytes(*device.used),
                     FormatBytes(device.total.value_or(0)), FormatExplained(device.share_explained()), instant, when);
}

std::vector<std::string> Cells(const DeviceBalance& device, const std::string& name, std::uint64_t bytes,
                               std::uint64_t blocks) {
  return {name, FormatBytes(bytes), FormatShare(bytes, device.used.value_or(device.sum)),
          blocks == 0 ? "" : FormatCount(blocks)};
}

std::string RowTable(const DeviceBalance& device, std::size_t top, const Terminal& terminal) {
  TextTable table({"owner", "bytes", "share", "blocks"});
  BalanceRow others;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < device.rows.size(); ++i) {
    const BalanceRow& row = device.rows[i];
    if (top == 0 || i < top) {
      table.AddRow(Cells(device, Escaped(row.name), row.bytes, row.blocks));
      continue;
    }
    ++left_out;
    others.bytes += row.bytes;
    others.blocks += row.blocks;
  }
  if (left_out > 0)
    table.AddRow(Cells(device, FormatCounted(left_out, "other", "others") + " (--top 0)", others.bytes, others.blocks));
  if (device.from_before > 0) table.AddRow(Cells(device, "from before recording began", device.from_before, 0));
  if (device.unexplained) {
    const std::uint64_t size = Size(*device.unexplained);
    const bool negative = *device.unexplained < 0;
    std::vector<std::string> cells =
        Cells(device, negative ? "unexplained: counted twice, or a free missed" : "unexplained", size, 0);
    if (negative) cells[1] = FormatSignedBytes(*device.unexplained);
    if (negative) cells[2] = "-" + cells[2];
    table.AddRow(std::move(cells));
  }
  table.AddTotal(Cells(device, device.used ? "used, from the sample" : "total", device.used.value_or(device.sum), 0));
  return table.Render(terminal, 2);
}

std::string CallName(const std::string& call) {
  if (call == "malloc_managed") return "managed, may be on the host";
  if (call == "ipc_open") return "opened by IPC, of another process";
  return call == "host_register" ? "registered" : "allocated";
}

// Returns a list such as "libx.so 32.0 MiB (allocated), liby.so 1.0 MiB (registered)".
std::string BesideList(const std::vector<SeparateRow>& rows) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, rows.size()); ++i) {
    text += fmt::format("{}{} {} ({})", i == 0 ? "" : ", ", Escaped(rows[i].name), FormatBytes(rows[i].bytes),
                        CallName(rows[i].call));
  }
  if (rows.size() > kShown) text += ", " + FormatCounted(rows.size() - kShown, "other", "others");
  return text;
}

std::string TorchNote(const DeviceBalance& device) {
  const std::uint64_t taken = device.torch_driver_bytes + device.in_mem_pools;
  if (device.torch_reserved == 0 || taken == device.torch_reserved) return "";
  if (taken == 0) return "the calls that allocated torch's segments are not recorded: they were before the recording";
  return fmt::format(
      "torch's segments have {}, but recorded calls allocated {} for them{}", FormatBytes(device.torch_reserved),
      FormatBytes(taken),
      taken < device.torch_reserved ? ": the other calls were before the recording, or where Memoir sees none" : "");
}

// Explains why bytes have no row, as far as the reasons are known.
std::vector<std::string> UnexplainedNotes(const DeviceBalance& device) {
  std::vector<std::string> notes;
  if (!IsWorthANote(device)) return notes;
  if (device.from_before > 0)
    notes.push_back(
        "from before recording began: used already at the first sample of the recording, or at the first after a "
        "pause, and without an owner");
  if (!device.other_processes_bytes)
    notes.push_back("memory of other processes is not known (no NVML); it is part of the memory without an owner");
  if (device.IsFinding() && *device.unexplained > 0)
    notes.push_back(
        "unexplained: usually allocated by calls that Memoir does not see: through a pointer from dlsym(RTLD_DEFAULT, "
        "\"cudaMalloc\"), as mipmapped arrays, or as code loaded at a kernel's first launch (docs/balance.md)");
  return notes;
}

std::vector<std::string> Notes(const Capture& capture, const DeviceBalance& device, const ReplayReport& report) {
  std::vector<std::string> notes = UnexplainedNotes(device);
  for (const std::string& line : UnrecordedLines(report.processes[device.process.value]))
    notes.push_back(line + "; it is in no row");
  notes.push_back(IsImported(capture) ? NotInImport(capture, "calls of the driver, nor samples of the device")
                                      : TorchNote(device));
  if (device.torch_in_pools > 0)
    notes.push_back(fmt::format("{} of the cudaMallocAsync pools are torch's", FormatBytes(device.torch_in_pools)));
  if (device.in_mem_pools > 0 && device.torch_reserved > 0)
    notes.push_back(
        fmt::format("{} that another library allocated belong to a MemPool or to torch, and are counted there",
                    FormatBytes(device.in_mem_pools)));
  if (!device.beside.empty()) notes.push_back("not in the sum: " + BesideList(device.beside));
  if (device.forgotten_bytes > 0)
    notes.push_back(fmt::format("recording was off before; {} of the driver's blocks may have been freed meanwhile",
                                FormatBytes(device.forgotten_bytes)));
  if (device.evicted_used)
    notes.push_back(fmt::format("{} were used at {}, in parts since evicted: their owners are not known",
                                FormatBytes(*device.evicted_used), FormatMoment(device.evicted_ns)));
  std::erase(notes, "");
  return notes;
}

std::string HostLine(const HostBalance& host) {
  if (host.cpu_bytes == 0 && host.pinned_taken == 0 && host.pinned_asked.value_or(0) == 0) return "";
  std::string text = "host: CPU tensors " + FormatBytes(host.cpu_bytes);
  if (host.pinned_taken == 0 && host.pinned_asked.value_or(0) == 0) return text + "; nothing pinned";
  text += host.pinned_asked ? fmt::format("; pinned: {} requested in {}", FormatBytes(*host.pinned_asked),
                                          FormatCounted(host.pinned_blocks, "block", "blocks"))
                            : "; pinned: bytes requested by tensors not known";
  text += ", " + FormatBytes(host.pinned_taken) + " pinned in all";
  return host.pinned.empty() ? text : text + ": " + BesideList(host.pinned);
}

std::string Render(const Capture& capture, const DeviceBalance& device, const ReplayReport& report,
                   const BalanceTextOptions& shown, const Terminal& terminal) {
  const std::string headline = Wrapped(Headline(capture, device, shown.instant), terminal.width, 0);
  std::string text = Painted(terminal, device.IsFinding() ? Color::kRed : Color::kBold, headline) + "\n";
  text += RowTable(device, shown.top, terminal);
  for (const std::string& note : Notes(capture, device, report)) text += "  " + Wrapped(note, terminal.width, 2) + "\n";
  const std::string host = HostLine(device.host);
  return host.empty() ? text : text + "  " + Wrapped(host, terminal.width, 2) + "\n";
}

Json RowsJson(const std::vector<BalanceRow>& rows) {
  Json json = Json::array();
  for (const BalanceRow& row : rows)
    json.push_back({{"part", ToString(row.part)}, {"name", row.name}, {"bytes", row.bytes}, {"blocks", row.blocks}});
  return json;
}

Json BesideJson(const std::vector<SeparateRow>& rows) {
  Json json = Json::array();
  for (const SeparateRow& row : rows)
    json.push_back({{"library", row.name}, {"call", row.call}, {"bytes", row.bytes}, {"blocks", row.blocks}});
  return json;
}

template <class Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json DeviceJson(const DeviceBalance& device) {
  return {{"device", device.name},
          {"product", device.product},
          {"rank", RankJson(device.rank)},
          {"process", device.process.value},
          {"finding", device.IsFinding()},
          {"time_ns", device.ns},
          {"step", OrNull(device.step)},
          {"reading", device.cause ? Json(ToString(*device.cause)) : Json(nullptr)},
          {"used_bytes", OrNull(device.used)},
          {"free_bytes", OrNull(device.free)},
          {"total_bytes", OrNull(device.total)},
          {"process_bytes", OrNull(device.process_bytes)},
          {"other_processes_bytes", OrNull(device.other_processes_bytes)},
          {"pool_bytes", OrNull(device.pool_bytes)},
          {"rows", RowsJson(device.rows)},
          {"sum_bytes", device.sum},
          {"from_before_bytes", device.from_before},
          {"unexplained_bytes", OrNull(device.unexplained)},
          {"unexplained_bytes_at_start", OrNull(device.unexplained_at_start)},
          {"share_explained", device.used ? Json(device.share_explained()) : Json(nullptr)},
          {"torch_reserved_bytes", device.torch_reserved},
          {"torch_driver_bytes", device.torch_driver_bytes},
          {"torch_bytes_in_memory_pools", device.torch_in_pools},
          {"bytes_of_others_in_torch_pools", device.in_mem_pools},
          {"beside", BesideJson(device.beside)},
          {"folded_used_bytes", OrNull(device.evicted_used)},
          {"forgotten_bytes", device.forgotten_bytes},
          {"host",
           {{"cpu_bytes", device.host.cpu_bytes},
            {"pinned_asked_bytes", OrNull(device.host.pinned_asked)},
            {"pinned_blocks", device.host.pinned_blocks},
            {"pinned_taken_bytes", device.host.pinned_taken},
            {"pinned", BesideJson(device.host.pinned)}}}};
}

}  // namespace

std::string FormatExplained(double share) {
  const double hundredths = std::floor(std::clamp(share, 0.0, 1.0) * 10000);
  return fmt::format("{:.2f}%", hundredths / 100);
}

std::string BalanceLine(const Capture& capture, const Balance& balance) {
  std::uint64_t used = 0, distance = 0;
  std::size_t known = 0;
  const DeviceBalance* worst = nullptr;
  for (const DeviceBalance& device : balance.devices) {
    if (!device.used || !device.unexplained) continue;
    ++known;
    used += *device.used;
    distance += Size(*device.unexplained) + device.from_before;
    if (worst == nullptr || device.share_explained() < worst->share_explained()) worst = &device;
  }
  const std::string unknown = CudaMemoryNotKnown(balance.report);
  if (worst == nullptr && !unknown.empty()) return "not known: " + unknown;
  if (worst == nullptr) {
    return balance.devices.empty() ? "no GPU memory is recorded"
                                   : "used memory of the GPUs not known, because no sample of them is recorded";
  }
  const double share = used == 0 ? 1 : 1 - static_cast<double>(std::min(distance, used)) / static_cast<double>(used);
  std::string text = fmt::format("{}: {} used, {} explained", FormatCounted(known, "GPU", "GPUs"), FormatBytes(used),
                                 FormatExplained(share));
  if (known > 1)
    text += fmt::format("; lowest on {}: {}", DeviceLabel(capture, worst->name, worst->process),
                        FormatExplained(worst->share_explained()));
  return text;
}

std::string RenderBalance(const Capture& capture, const Balance& balance, const BalanceTextOptions& shown,
                          const Terminal& terminal) {
  std::string text;
  const std::size_t tables =
      shown.tables == 0 ? balance.devices.size() : std::min(shown.tables, balance.devices.size());
  for (std::size_t i = 0; i < tables; ++i)
    text += (i == 0 ? "" : "\n") + Render(capture, balance.devices[i], balance.report, shown, terminal);
  if (balance.devices.size() > tables) {
    text += fmt::format("\nand {}, better explained (--rank N shows one, --top 0 all)\n",
                        FormatCounted(balance.devices.size() - tables, "more GPU", "more GPUs"));
  }
  if (balance.devices.size() != 1)
    text += (text.empty() ? "" : "\n") + Wrapped(BalanceLine(capture, balance), terminal.width, 0) + "\n";
  return text;
}

Json BalanceJson(const Capture& capture, const Balance& balance) {
  Json json = CaptureJson(capture, balance.report, "check_balance");
  json["devices"] = Json::array();
  for (const DeviceBalance& device : balance.devices) json["devices"].push_back(DeviceJson(device));
  return json;
}

}  // namespace memoir
