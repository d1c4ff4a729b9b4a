#include "tracker/writer/state/current_holdings.h"

#include <algorithm>
#include <cstring>

namespace memoir {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

CurrentHoldings::Order& CurrentHoldings::OrderOf(const Holder& holder) {
  return static_cast<HolderKind>(holder.key.first) == HolderKind::kGradient ? gradients_ : holders_;
}

void CurrentHoldings::Drop(Order::iterator holder) {
  bytes_ -= holder->words.size() * kWord;
  by_key_.erase(holder->key);
  std::erase_if(newest_, [holder](const auto& of_thread) { return of_thread.second == holder; });
  OrderOf(*holder).erase(holder);
}

// Removes holders until the others fit. Removes all records of a holder together: if a snapshot had only some of them,
// its reader would conclude that the holder no longer holds the tensors of the other records.
void CurrentHoldings::KeepWithinBounds(Order::iterator newest) {
  if (newest->words.size() * kWord > kMostHeldBytes) return Drop(newest);
  while (bytes_ > kMostHeldBytes) {
    Order& order = gradients_.empty() || gradients_.begin() == newest ? holders_ : gradients_;
    Drop(order.begin());
  }
}

void CurrentHoldings::Append(Order::iterator holder, const EventGroup& group) {
  const auto append = [&](const RecordHeader& header) {
    const std::size_t at = holder->words.size();
    holder->words.resize(at + header.words);
    std::memcpy(&holder->words[at], &header, header.words * kWord);
    bytes_ += header.words * kWord;
  };
  append(*group.header);
  for (const TensorRecord* tensor : group.tensors) append(tensor->header);
  KeepWithinBounds(holder);
}

void CurrentHoldings::Note(std::uint32_t thread, const EventGroup& group) {
  const auto& record = group.As<HoldsRecord>();
  const auto kind = static_cast<HolderKind>(record.header.flags);
  if (group.tensors.size() < record.tensor_count) {  // some tensors were lost
    if (kind != HolderKind::kGradient) newest_.erase(thread);
    return;
  }
  if (kind == HolderKind::kMore) {
    if (const auto newest = newest_.find(thread); newest != newest_.end()) Append(newest->second, group);
    return;
  }
  if (kind == HolderKind::kOptimizer && group.tensors.empty()) return;  // the optimizer's tensors have not changed
  if (kind == HolderKind::kGradient && group.tensors.empty()) return;
  const std::uint64_t whose = kind == HolderKind::kGradient ? group.tensors.front()->impl : record.owner;
  const auto [known, is_new] = by_key_.try_emplace({record.header.flags, whose});
  if (is_new) {
    Order& order = kind == HolderKind::kGradient ? gradients_ : holders_;
    known->second = order.insert(order.end(), {known->first, {}});
  } else {
    Order& order = OrderOf(*known->second);
    order.splice(order.end(), order, known->second);
    bytes_ -= known->second->words.size() * kWord;
    known->second->words.clear();
  }
  if (kind != HolderKind::kGradient) newest_[thread] = known->second;
  Append(known->second, group);
}

void CurrentHoldings::ForEach(const std::function<void(Copy&)>& visit) const {
  Copy copy;
  const auto show = [&](const Holder& holder) {
    Words words = holder.words;
    for (std::size_t at = 0; at < words.size();) {
      copy.header = reinterpret_cast<RecordHeader*>(&words[at]);
      copy.group.header = copy.header;
      copy.group.kind = copy.header->kind;
      at += copy.header->words;
      const std::uint32_t announced = ReadEvent(&copy.group);
      copy.group.tensors.clear();
      copy.tensors.clear();
      for (std::uint32_t i = 0; i < announced && at < words.size(); ++i) {
        copy.tensors.push_back(reinterpret_cast<TensorRecord*>(&words[at]));
        copy.group.tensors.push_back(copy.tensors.back());
        at += copy.tensors.back()->header.words;
      }
      copy.group.records = copy.group.tensors.size() + 1;
      visit(copy);
    }
  };
  for (const Order* order : {&holders_, &gradients_}) std::ranges::for_each(*order, show);
}

}  // namespace memoir
