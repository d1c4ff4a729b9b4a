#include "tools/view/torch_profiler/category_view.h"

#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/view/json/json.h"

namespace memoir {
namespace {

void WriteTimeline(const CategoryProfile& profile, const TextWriter& write) {
  write("\"timeline\": [");
  std::string text;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const TimelineRow& row = profile.rows[i];
    fmt::format_to(std::back_inserter(text), R"({}  [{},"{}",{},"{}",{},"{}"])", i == 0 ? "\n" : ",\n", i,
                   ToString(row.action), row.bytes, NameOf(row.category), row.version,
                   profile.tree.device_names[row.device.value]);
    if (text.size() < 1 << 20) continue;
    write(text);
    text.clear();
  }
  write(text + "\n ]");
}

Json BytesJson(const CategoryProfile::Bytes& bytes) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kTorchCategories; ++i) {
    if (bytes[i] != 0) json[std::string(NameOf(static_cast<Category>(i)))] = bytes[i];
  }
  return json;
}

Json TotalsJson(const CategoryProfile& profile) {
  Json json = Json::object();
  for (const CategoryProfile::Totals& totals : profile.totals) {
    json[profile.tree.device_names[totals.device.value]] = {
        {"peak_total", totals.peak},
        {"at_peak", BytesJson(totals.at_peak)},
        {"peak_by_category", BytesJson(totals.peaks)},
        {"created_by_category", BytesJson(totals.created)},
        {"preexisting_by_category", BytesJson(totals.preexisting)},
        {"final_by_category", BytesJson(totals.last)},
    };
  }
  return json;
}

// Returns the JSON list ["aten::add_.Tensor","TFF"]. formatSchemas in PyTorch's test/profiler/test_memory_profiler.py
// prints the same two texts.
std::string SchemaJson(const EventTree& tree, const TreeNode& node) {
  std::string letters;
  for (const SchemaMatch::Mutation written : tree.calls[node.call].written) {
    letters += written == SchemaMatch::Mutation::kYes ? 'T' : written == SchemaMatch::Mutation::kNo ? 'F' : 'N';
  }
  const std::vector<std::string>& overloads = tree.calls[node.call].overloads;
  std::string text = tree.names[node.name];
  if (overloads.size() == 1) text += "." + overloads[0];
  if (overloads.size() > 1) text += fmt::format(".{{{}}}", fmt::join(overloads, ", "));
  return fmt::format("[{},\"{}\"]", Quoted(text), letters);
}

// Writes a list with one JSON value per line.
class Lines {
 public:
  Lines(std::string_view key, const TextWriter& write) : write_(write), text_(fmt::format(",\n \"{}\": [", key)) {}
  void Add(std::string_view value) {
    text_ += first_ ? "\n  " : ",\n  ";
    text_ += value;
    first_ = false;
    if (text_.size() >= 1 << 20) {
      write_(text_);
      text_.clear();
    }
  }
  void End() { write_(text_ + "\n ]"); }

 private:
  const TextWriter& write_;
  std::string text_;
  bool first_ = true;
};

// Writes the storages of each range's arguments, one row for each row of "schemas".
void WriteArguments(const EventTree& tree, const TextWriter& write) {
  Lines lines("arguments", write);
  for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {
    if (tree.nodes[node].kind != TreeNode::Kind::kRange) continue;
    std::string row;
    for (const TreeInput& input : tree.InputsOf(node))
      row += fmt::format("{}[{},{}]", row.empty() ? "" : ",", input.argument, input.allocation);
    lines.Add("[" + row + "]");
  }
  lines.End();
}

// Writes the storage of each row of "timeline".
void WriteTimelineStorages(const CategoryProfile& profile, const TextWriter& write) {
  Lines lines("timeline_storages", write);
  for (const TimelineRow& row : profile.rows)
    lines.Add(row.storage == kNoAllocation ? "null" : std::to_string(row.storage));
  lines.End();
}

void WriteStorages(const CategoryProfile& profile, const TextWriter& write) {
  const EventTree& tree = profile.tree;
  Lines lines("storages", write);
  for (std::size_t i = 0; i < profile.storages.size(); ++i) {
    const AllocationId id = profile.storages[i].id;
    std::string names;
    for (const Category category : profile.CategoriesOf(i))
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ",", NameOf(category));
    lines.Add(fmt::format(R"([{},{},"{:#x}",{},"{}",[{}]])", id, tree.tensors[id], tree.addresses[id], tree.bytes[id],
                          tree.device_names[tree.devices[id].value], names));
  }
  lines.End();
}

// Writes each known gradient once, with its parameter.
void WriteGradients(const EventTree& tree, const TextWriter& write) {
  const auto number = [](AllocationId id) { return id == kNoAllocation ? "null" : std::to_string(id); };
  std::set<std::string> rows;
  for (const AllocationId gradient : tree.gradients)
    rows.insert(fmt::format(R"(["accumulated",null,{}])", number(gradient)));
  for (const EventTree::ParameterGradient& held : tree.parameter_gradients) {
    if (held.gradient != kNoAllocation)
      rows.insert(fmt::format(R"(["held",{},{}])", number(held.parameter), number(held.gradient)));
  }
  Lines lines("gradients", write);
  for (const std::string& row : rows) lines.Add(row);
  lines.End();
}

void WriteTree(const EventTree& tree, const TextWriter& write) {
  Lines lines("tree", write);
  std::string rest;
  WriteTreeText(tree, [&](std::string_view text) {
    rest += text;
    std::size_t begin = 0;
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
      lines.Add(Quoted(std::string_view(rest).substr(begin, end - begin)));
      begin = end + 1;
    }
    rest.erase(0, begin);
  });
  lines.End();
}

}  // namespace

void WriteCategoriesJson(const CategoryProfile& profile, const TextWriter& write) {
  const EventTree& tree = profile.tree;
  write("{\"version\": 1, \"view\": \"categories\", \"rules\": \"torch\",\n ");
  WriteTimeline(profile, write);
  write(",\n \"totals\": " + TotalsJson(profile).dump());
  Lines flow("data_flow", write);
  for (std::size_t node = 0; node < profile.graph.nodes.size(); ++node) {
    if (const std::string line = FlowLine(tree, profile.graph, node); !line.empty()) flow.Add(Quoted(line));
  }
  flow.End();
  Lines schemas("schemas", write);
  for (const TreeNode& node : tree.nodes) {
    if (node.kind == TreeNode::Kind::kRange) schemas.Add(SchemaJson(tree, node));
  }
  schemas.End();
  WriteArguments(tree, write);
  WriteTree(tree, write);
  WriteTimelineStorages(profile, write);
  WriteStorages(profile, write);
  WriteGradients(tree, write);
  write("\n}\n");
}

std::string TimelineJson(const CategoryProfile& profile, DeviceId device) {
  std::vector<TimelineRow> rows;
  for (const TimelineRow& row : profile.rows) {
    if (row.device == device) rows.push_back(row);
  }
  std::string times, sizes;
  for (const TimelineState& state : StatesOf(rows)) {
    fmt::format_to(std::back_inserter(times), "{}{}", times.empty() ? "" : ", ", state.us);
    fmt::format_to(std::back_inserter(sizes), "{}[0", sizes.empty() ? "" : ", ");
    for (const std::int64_t bytes : state.bytes) fmt::format_to(std::back_inserter(sizes), ", {}", bytes);
    sizes += ']';
  }
  return "[[" + times + "], [" + sizes + "]]";
}

std::string RawTimelineJson(const CategoryProfile& profile, DeviceId device) {
  std::string text = "[";
  for (const TimelineRow& row : profile.rows) {
    if (row.device != device) continue;
    fmt::format_to(std::back_inserter(text), "{}[{}, {}, {}, {}]", text.size() == 1 ? "" : ", ", row.ns,
                   static_cast<int>(row.action), row.bytes, static_cast<int>(row.category));
  }
  return text + "]";
}

}  // namespace memoir
