// How commands end.

/** Exit codes of all commands. */
export const Exit = {
  ok: 0,
  /** What was asked for failed: the workflow failed, there is no such workflow, the store cannot be opened, ... */
  failed: 1,
  /** The command was called wrongly: nothing was done. */
  usage: 2,
  /** Ended by Ctrl-C (SIGINT); 143 by SIGTERM. */
  interrupted: 130,
  terminated: 143,
} as const;
