// What workflows and their interceptors share, for each run.

/**
 * Called when an activation was concluded: the how many-th (0: one of queries), and which commands
 * the interceptor was shown.
 */
export const hook: { concluded?: (times: number, shown: string[]) => void } = {};
