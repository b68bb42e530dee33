// Unhandled promise rejections of activity code. The runtime would end the process for one, and a
// retry would end the next process too. Those caused by an activity are logged with its ids; others
// keep the runtime's default behavior.
import { activityBehind } from "../../activity/context.ts";
import { captureRejections } from "../../platform/rejections.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import { loggable } from "../../codec/loggable.ts";

/** Captures such rejections. Returns a function that stops it. */
export function takeActivityRejections(codec: MessageCodec | undefined): () => void {
  return captureRejections({ ownThread: false }).listen({
    unhandled(_promise, reason) {
      const context = activityBehind();
      if (context === undefined) return false;
      context.logger.error(
        "unhandled promise rejection in an activity; await the promise or catch its error",
        {
          error: loggable(reason, codec),
        },
      );
      return true;
    },
    handled() {},
  });
}
