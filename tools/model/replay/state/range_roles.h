// Determines the roles of ranges from their names (docs/event_schema.md, "Modules"): whether a range belongs to
// autograd, to an optimizer or to torch.compile. The roles of each name are determined once and kept.
#ifndef TOOLS_MODEL_REPLAY_STATE_RANGE_ROLES_H_
#define TOOLS_MODEL_REPLAY_STATE_RANGE_ROLES_H_

#include <vector>

#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

class RangeRoles {
 public:
  explicit RangeRoles(const Dictionary& dictionary) : dictionary_(dictionary) {}

  RangeRole Of(NameId name, RangeSource source) {
    RangeRole role;
    if (name.valid()) role = source == RangeSource::kUser ? RolesOf(name).of_user : RolesOf(name).of_others;
    if (source == RangeSource::kBackward) role.backward = true;
    return role;
  }
  // True for the autograd node that accumulates a parameter's gradient. `name` must be valid.
  bool AccumulatesGradient(NameId name) { return RolesOf(name).accumulates; }

 private:
  struct NameRoles {
    RangeRole of_user, of_others;
    bool known = false;
    bool accumulates = false;
  };
  const NameRoles& RolesOf(NameId name) {
    const bool known = name.value < roles_.size() && roles_[name.value].known;
    return known ? roles_[name.value] : Find(name);
  }
  const NameRoles& Find(NameId name);

  const Dictionary& dictionary_;
  std::vector<NameRoles> roles_;  // by NameId
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_RANGE_ROLES_H_
