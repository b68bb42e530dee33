// Shows that the client is retrying a cluster that does not respond.
import type { RawService } from "../../service/raw.ts";
import { isUnavailable } from "../../service/retry.ts";
import type { Printer } from "../frame/printer.ts";

/**
 * Returns the service with a progress line while it is unavailable; cleared on recovery, and by
 * `done`.
 */
export function withUnavailableNotice(
  service: RawService,
  where: string,
  print: Printer,
): { service: RawService; done(): void } {
  let tries = 0;
  const done = () => {
    if (tries > 0) print.progress("");
    tries = 0;
  };
  return {
    done,
    service: {
      ...(service.losesCancelledPolls !== undefined &&
        { losesCancelledPolls: service.losesCancelledPolls }),
      ...(service.checksPayloads !== undefined && { checksPayloads: service.checksPayloads }),
      async call(method, request, options) {
        try {
          const answer = await service.call(method, request, options);
          done();
          return answer;
        } catch (error) {
          if (isUnavailable(error)) {
            tries++;
            const why = /\bE[A-Z]{4,}\b/.exec((error as Error).message)?.[0];
            const dots = ".".repeat(1 + tries % 3);
            print.progress(
              `no response from ${where}${
                why === undefined ? "" : ` (${why})`
              }, trying again${dots} Ctrl-C cancels`,
            );
          } else done();
          throw error;
        }
      },
    },
  };
}
