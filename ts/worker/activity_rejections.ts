// Promises that activity code leaves behind: rejected, and handled by nothing. The runtime would end the process for one of them, and the
// activity, which is tried again, would end the next process, too. Those that an activity has set off are logged with its ids; all others
// are the program's own, and the runtime treats them as ever.
import { activityBehind } from "../activity/context.ts";
import { captureRejections } from "../platform/rejections.ts";
import type { MessageCodec } from "../codec/message_codec.ts";
import { loggable } from "../codec/loggable.ts";

/** Takes such rejections until the function that it answers is called. */
export function takeActivityRejections(codec: MessageCodec | undefined): () => void {
  return captureRejections({ ownThread: false }).listen({
    unhandled(_promise, reason) {
      const context = activityBehind();
      if (context === undefined) return false;
      context.logger.error("unhandled promise rejection in an activity; await the promise or catch its error", {
        error: loggable(reason, codec),
      });
      return true;
    },
    handled() {},
  });
}
