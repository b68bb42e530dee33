// How commands end.

/** Exit codes of all commands. */
export const Exit = {
  ok: 0,
  /** The command failed: a failed or unknown workflow, a store that cannot be opened, ... */
  failed: 1,
  /** Wrong command line: nothing was done. */
  usage: 2,
  /** Ended by Ctrl-C (SIGINT); 143 for SIGTERM. */
  interrupted: 130,
  terminated: 143,
} as const;
