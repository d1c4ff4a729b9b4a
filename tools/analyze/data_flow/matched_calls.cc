// Matches the arguments of operator calls with the schemas of their operators.
#include "tools/analyze/data_flow/matched_calls.h"

#include <algorithm>

namespace memoir {

const OperatorSchemas* MatchedCalls::SchemasOf(SchemaId id, const Dictionary& dictionary) {
  if (!id.valid()) return nullptr;
  const auto [entry, added] = schemas_.try_emplace(id);
  if (added) entry->second = ParseSchemas(dictionary.schema(id));
  return &entry->second;
}

std::string MatchedCalls::TextOfKinds(const RangeBeginEvent& event, const Dictionary& dictionary) {
  if (!event.signature.valid()) return {};
  std::string kinds = dictionary.signature(event.signature).kinds;
  const OperatorSchemas* schemas = SchemasOf(event.range->schema, dictionary);
  for (std::size_t i = 0; schemas != nullptr && i < std::min(kinds.size(), schemas->own.size()); ++i) {
    if (kinds[i] == 'L' && schemas->own[i].type == ArgumentType::kOptionalTensorList) kinds[i] = kNotShown;
  }
  return kinds;
}

MatchedCalls::Call MatchedCalls::MatchCall(const RangeBeginEvent& event, const std::string& kinds,
                                           const Dictionary& dictionary) {
  const auto [known, added] = calls_.try_emplace(Key{event.range->name, event.range->schema, kinds});
  if (!added) return known->second;
  matches_.push_back(MatchSchemas(SchemasOf(event.range->schema, dictionary), kinds));
  known->second = {static_cast<std::uint32_t>(matches_.size() - 1), !matches_.back().overloads.empty()};
  return known->second;
}

}  // namespace memoir
