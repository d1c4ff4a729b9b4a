#include "tools/view/capture/block_json.h"

#include <string>
#include <utility>

#include "fmt/format.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/lives/block_lives.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/view/json/json.h"

namespace memoir {
namespace {

Json BlockJson(const BlockLife& life, const BlockCategories& categories, const ReplayState& state,
               const Capture& capture) {
  const Dictionary& dictionary = state.dictionary();
  const Block& block = *life.block;
  const Rule& rule = Rules()[life.rule];
  Json json = {{"address", fmt::format("0x{:x}", block.address)},
               {"bytes", block.bytes},
               {"device", ToString(dictionary.device(block.device))},
               {"rank", RankJson(capture.processes()[life.process.value].rank())},
               {"serial", block.serial},
               {"allocated_time_ns", life.allocated_ns},
               {"freed_time_ns", life.freed_ns ? Json(*life.freed_ns) : Json(nullptr)},
               {"operator", dictionary.text(block.operator_name)},
               {"phase", ToString(block.phase)},
               {"module", block.module.valid() ? Json(dictionary.module(block.module).path) : Json(nullptr)},
               {"category", NameOf(rule.kept)},
               {"detail", rule.detail},
               {"rule", rule.name},
               {"parameter", nullptr}};
  if (life.parameter != kNoParameter) json["parameter"] = categories.parameters[life.parameter].label();
  return json;
}

}  // namespace

absl::StatusOr<ReplayReport> WriteBlockCategories(const Capture& capture, const Selection& selection,
                                                  const std::function<void(std::string_view)>& write) {
  JointReplays replays(capture, selection);
  SharedCategories shared(replays);
  const absl::StatusOr<KnownCategories>& found = replays.Finish(shared.Find());
  if (!found.ok()) return found.status();
  const BlockCategories& categories = **found;
  const Json missing = categories.missing;
  std::string text = R"({"view":"categories","rules":"memoir","missing":)" + missing.dump() + R"(,"blocks":[)";
  constexpr std::size_t kWriteAt = 1u << 16;
  bool first = true;
  const auto show = [&](const BlockLife& life, const ReplayState& state) {
    text += std::exchange(first, false) ? "\n" : ",\n";
    text += BlockJson(life, categories, state, capture).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() < kWriteAt) return;
    write(text);
    text.clear();
  };
  absl::StatusOr<ReplayReport> report = replays.Finish(ForEachBlockLife(replays, selection, categories, show));
  if (!report.ok()) return report;
  write(text + "\n]}\n");
  return report;
}

}  // namespace memoir
