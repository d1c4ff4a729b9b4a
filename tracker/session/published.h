// One object that any thread of the process may be reading while another takes its place: it is freed when nobody reads
// it any more, at the earliest with the next one. For what is read now and then, in no hook on operators.
//
// In a forked child the newest object is whole. Whoever read at the fork is not there to leave: what the child itself
// puts is then never freed.
#ifndef TRACKER_SESSION_PUBLISHED_H_
#define TRACKER_SESSION_PUBLISHED_H_

#include <atomic>
#include <memory>
#include <utility>

namespace memoir {

template <class Object>
class Published {
  struct Node {
    std::unique_ptr<Object> object;
    Node* next;
  };

 public:
  constexpr Published() = default;
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // As long as it lives, so does what it shows.
  class Visit {
   public:
    explicit Visit(Published& of) : of_(of) {
      of_.visitors_.fetch_add(1, std::memory_order_seq_cst);
      const Node* node = of_.newest_.load(std::memory_order_seq_cst);
      object_ = node == nullptr ? nullptr : node->object.get();
    }
    ~Visit() { of_.visitors_.fetch_sub(1, std::memory_order_release); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    Object* get() const { return object_; }  // nullptr: none

   private:
    Published& of_;
    Object* object_;
  };

  // nullptr: none from here on.
  void Put(std::unique_ptr<Object> object) {
    auto* node = object == nullptr ? nullptr : new Node{std::move(object), nullptr};
    if (Node* old = newest_.exchange(node, std::memory_order_seq_cst)) Retire(old);
    FreeRetired();
  }

 private:
  void Retire(Node* node) {
    node->next = retired_.load(std::memory_order_relaxed);
    while (!retired_.compare_exchange_weak(node->next, node, std::memory_order_seq_cst)) {
    }
  }

  // Taken off first: whoever comes after that sees the newest object, and none of these.
  void FreeRetired() {
    Node* node = retired_.exchange(nullptr, std::memory_order_seq_cst);
    const bool free = visitors_.load(std::memory_order_seq_cst) == 0;
    while (node != nullptr) {
      Node* next = node->next;
      if (free) {
        delete node;
      } else {
        Retire(node);
      }
      node = next;
    }
  }

  std::atomic<Node*> newest_{nullptr};
  std::atomic<Node*> retired_{nullptr};
  std::atomic<int> visitors_{0};
};

}  // namespace memoir

#endif  // TRACKER_SESSION_PUBLISHED_H_
