#include "tracker/writer/held_now.h"

#include <algorithm>
#include <cstring>

namespace memoir {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

void HeldNow::Drop(Order::iterator holder) {
  bytes_ -= holder->words.size() * kWord;
  known_.erase(holder->key);
  std::erase_if(newest_, [holder](const auto& of_thread) { return of_thread.second == holder; });
  holders_.erase(holder);
}

// All or nothing: records without their tensors would say that these are not held any more.
void HeldNow::Append(Order::iterator holder, const EventGroup& group) {
  std::size_t words = group.header->words;
  for (const TensorRecord* tensor : group.tensors) words += tensor->header.words;
  if (bytes_ + words * kWord > kMostHeldBytes) {
    ++left_out_;
    return Drop(holder);
  }
  const auto append = [holder](const RecordHeader& header) {
    const std::size_t at = holder->words.size();
    holder->words.resize(at + header.words);
    std::memcpy(&holder->words[at], &header, header.words * kWord);
  };
  append(*group.header);
  for (const TensorRecord* tensor : group.tensors) append(tensor->header);
  bytes_ += words * kWord;
}

void HeldNow::Note(std::uint32_t thread, const EventGroup& group) {
  const auto& record = group.As<HoldsRecord>();
  const auto kind = static_cast<HolderKind>(record.header.flags);
  if (group.tensors.size() < record.tensor_count) {  // some were lost
    if (kind != HolderKind::kGradient) newest_.erase(thread);
    return;
  }
  if (kind == HolderKind::kMore) {
    if (const auto newest = newest_.find(thread); newest != newest_.end()) Append(newest->second, group);
    return;
  }
  if (kind == HolderKind::kOptimizer && group.tensors.empty()) return;  // it holds what was said before
  if (kind == HolderKind::kGradient && group.tensors.empty()) return;
  const std::uint64_t whose = kind == HolderKind::kGradient ? group.tensors.front()->impl : record.owner;
  const std::pair key(record.header.flags, whose);
  if (const auto known = known_.find(key); known != known_.end()) Drop(known->second);
  const auto holder = holders_.insert(holders_.end(), {key, {}});
  known_[key] = holder;
  if (kind != HolderKind::kGradient) newest_[thread] = holder;
  Append(holder, group);
}

void HeldNow::ForEach(const std::function<void(Copy&)>& visit) const {
  Copy copy;
  for (const Holder& holder : holders_) {
    Words words = holder.words;
    for (std::size_t at = 0; at < words.size();) {
      copy.header = reinterpret_cast<RecordHeader*>(&words[at]);
      copy.group.header = copy.header;
      copy.group.kind = copy.header->kind;
      at += copy.header->words;
      const std::uint32_t announced = ReadEvent(&copy.group);
      copy.group.tensors.clear();
      copy.tensors.clear();
      for (std::uint32_t i = 0; i < announced; ++i) {
        copy.tensors.push_back(reinterpret_cast<TensorRecord*>(&words[at]));
        copy.group.tensors.push_back(copy.tensors.back());
        at += copy.tensors.back()->header.words;
      }
      copy.group.records = copy.group.tensors.size() + 1;
      visit(copy);
    }
  }
}

}  // namespace memoir
