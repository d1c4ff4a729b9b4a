// Writes the nodes of a tree as JSON lines (docs/json.md), one object for each node, in bounded memory.
#ifndef TOOLS_VIEW_TREE_TREE_JSON_H_
#define TOOLS_VIEW_TREE_TREE_JSON_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/tree/tree_stream.h"
#include "tools/model/capture.h"

namespace memoir {

// Pass the function Add to StreamTree. `write` receives whole lines, some thousand at a time. Call Flush at the end.
class TreeJsonWriter {
 public:
  explicit TreeJsonWriter(std::function<void(std::string_view)> write) : write_(std::move(write)) {}
  void Add(const StreamedNode& node, const ReplayState& state);
  void Flush();

 private:
  void AddNumber(std::string_view key, std::uint32_t number);  // null: no number
  void AddModule(const StreamedNode& node, const Dictionary& dictionary);
  void AddCode(CodeId code, const Dictionary& dictionary);
  void AddRange(const StreamedNode& node, const ReplayState& state);
  void AddCall(const DeviceCallEvent& call, const ReplayState& state);
  void AddMemory(const StreamedNode& node, const Dictionary& dictionary);
  const std::string& QuotedName(NameId name, const Dictionary& dictionary);

  std::function<void(std::string_view)> write_;
  std::string lines_;
  std::vector<std::string> names_;    // by id, as JSON, so that a name is escaped once and not at every node
  std::vector<std::string> modules_;  // by id: ,"module":...
  std::vector<std::string> codes_;    // by id: ,"function":...
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TREE_TREE_JSON_H_
