// Calls a function of another library: through its stub, and by its address.
int slots_answer(void);
int slots_ask(void);
int slots_ask_by_address(void);
int slots_ask(void) { return slots_answer(); }
int slots_ask_by_address(void) {
  int (*volatile answer)(void) = slots_answer;
  return answer();
}
