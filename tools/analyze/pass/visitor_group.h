// Passes the events of one replay to several visitors. Each visitor computes the same result as in a separate replay,
// and the capture is decoded only once.
#ifndef TOOLS_ANALYZE_PASS_VISITOR_GROUP_H_
#define TOOLS_ANALYZE_PASS_VISITOR_GROUP_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tools/model/event/event.h"

namespace memoir {

class VisitorGroup : public Visitor {
 public:
  // The visitors must outlive the group. They receive each event in the order of `visitors`.
  explicit VisitorGroup(std::vector<Visitor*> visitors) : visitors_(std::move(visitors)) {}

  void OnStart(const ReplayState& state) override {
    for (Visitor* const visitor : visitors_) visitor->OnStart(state);
  }
  void OnEnd(const ReplayReport& report) override {
    for (Visitor* const visitor : visitors_) visitor->OnEnd(report);
  }
  bool takes_repeats() const override {
    return std::ranges::all_of(visitors_, [](const Visitor* visitor) { return visitor->takes_repeats(); });
  }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override {
    std::uint64_t most = event.times;
    for (const Visitor* const visitor : visitors_) most = std::min(most, visitor->MostRepeats(event));
    return most;
  }
#define MEMOIR_VISITED(Name, EventType, who, how)                      \
  void On##Name(const EventType& event) override {                     \
    for (Visitor* const visitor : visitors_) visitor->On##Name(event); \
  }
#include "tools/model/event/visited.def"

 private:
  std::vector<Visitor*> visitors_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_VISITOR_GROUP_H_
