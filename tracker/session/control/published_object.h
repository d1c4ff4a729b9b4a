// One object that any thread of the process may read while another thread replaces it. The call of Put that replaces an
// object frees it if no thread is reading. Otherwise a later call of Put frees it. Do not use this class for objects
// that hooks on operators read, because each read changes a counter that all threads share.
//
// In a forked child the newest object is complete. If a thread was reading at the fork, its visit never ends in the
// child, so objects that the child replaces are never freed.
#ifndef TRACKER_SESSION_CONTROL_PUBLISHED_OBJECT_H_
#define TRACKER_SESSION_CONTROL_PUBLISHED_OBJECT_H_

#include <atomic>
#include <memory>
#include <utility>

namespace memoir {

template <class Object>
class PublishedObject {
  struct Node {
    std::unique_ptr<Object> object;
    Node* next;
  };

 public:
  constexpr PublishedObject() = default;
  PublishedObject(const PublishedObject&) = delete;
  PublishedObject& operator=(const PublishedObject&) = delete;

  // While a Visit exists, the object that its get() returns stays alive.
  class Visit {
   public:
    explicit Visit(PublishedObject& of) : of_(of) {
      of_.visitors_.fetch_add(1, std::memory_order_seq_cst);
      const Node* node = of_.newest_.load(std::memory_order_seq_cst);
      object_ = node == nullptr ? nullptr : node->object.get();
    }
    ~Visit() { of_.visitors_.fetch_sub(1, std::memory_order_release); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    Object* get() const { return object_; }  // nullptr if no object is published

   private:
    PublishedObject& of_;
    Object* object_;
  };

  // Replaces the object. nullptr: afterwards no object is published.
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

  // Frees the retired objects if there is no visitor. Takes the list before it reads the number of visitors, because a
  // visitor that begins later finds only the newest object.
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

#endif  // TRACKER_SESSION_CONTROL_PUBLISHED_OBJECT_H_
