// A reference from a handler of evidence to the shared state or to another handler.
//
// Assigning a handler to a handler of another pass copies the state and leaves the references unchanged. So all
// handlers of a pass can be assigned to the handlers of another pass, and each handler still refers to its own pass. A
// handler with such a reference cannot be constructed as a copy, because the copy would refer to the first pass.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_BOUND_REFERENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_BOUND_REFERENCE_H_

namespace memoir {

template <class Target>
class BoundReference {
 public:
  explicit BoundReference(Target& target) : target_(target) {}
  BoundReference(const BoundReference&) = delete;
  BoundReference& operator=(const BoundReference&) { return *this; }
  Target& operator*() const { return target_; }
  Target* operator->() const { return &target_; }

 private:
  Target& target_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_BOUND_REFERENCE_H_
