// Examples that are complete applications: each opens what it needs. Run by `npm run example NAME`
// and by the tests.

/** Prints what it does, and returns the result. */
export type Application = (say: (line: string) => void) => Promise<unknown>;

export const applications: { readonly [name: string]: () => Promise<{ run: Application }> } = {
  encryption: () => import("./encryption/main.ts"),
  external_storage: () => import("./external_storage/main.ts"),
  validation: () => import("./validation/main.ts"),
  agent: () => import("./agent/main.ts"),
  cpu_bound: () => import("./cpu_bound/main.ts"),
  entity: () => import("./entity/main.ts"),
  game: () => import("./game/main.ts"),
  world: () => import("./world/main.ts"),
};

/** Those that run until they are stopped, or are run by a test runner; `all` leaves them out. */
export const services: { readonly [name: string]: () => Promise<unknown> } = {
  graceful_shutdown: () => import("./graceful_shutdown/main.ts"),
  world_map: async () => await (await import("./world/terminal.ts")).play(),
  testing: () => import("./testing/node.test.ts"),
};
