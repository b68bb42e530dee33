// A workflow whose code causes log lines of the executor.
import {
  ApplicationFailure,
  noreply,
  on,
  receive,
  signal,
  stop,
  workflow,
} from "temporalex/workflow";

export const reject = signal<[text: string]>("reject");
export const end = signal("end");
/** No code receives it. */
export const unread = signal("unread");

export const logged = workflow("Logged", () =>
  receive("open", [
    on(reject, ([text], state) => {
      if (text !== "") throw ApplicationFailure.nonRetryable(text, { type: "Rejected" });
      return noreply(state);
    }),
    on(end, () => stop("ended")),
  ]));
