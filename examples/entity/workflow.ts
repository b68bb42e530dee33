// An entity: one workflow per user account, for the lifetime of the account. Every operation goes
// through it, one at a time, so operations do not race; it continues as new with all its state when
// the service suggests it. docs/entities.md explains it.
import {
  activities,
  ApplicationFailure,
  type ContinueAsNew,
  continueAsNew,
  noreply,
  now,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  spawnAsync,
  startChild,
  update,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

export interface Profile {
  readonly name: string;
  readonly about?: string;
}
export type Status = "ACTIVE" | "SUSPENDED" | "DELETED";
/** What the account is. Times: milliseconds since the epoch. */
export interface User {
  readonly status: Status;
  readonly profile?: Profile;
  /** Changed to, and not verified yet. */
  readonly pendingEmail?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt?: number;
}
/**
 * The result of an update. Small, because results are remembered: one of more than 256 KiB would
 * not be.
 */
export interface Receipt {
  readonly status: Status;
  /** The change's number. */
  readonly operation: number;
}
/** All that goes from one generation to the next. */
export interface Account {
  readonly user: User;
  /** From 1; one more with each continue-as-new. */
  readonly generation: number;
  /** Changes in all generations. */
  readonly operations: number;
}
/** How near the next continue-as-new is. */
export interface Health {
  readonly generation: number;
  readonly operations: number;
  readonly historyEvents: number;
  readonly historyBytes: number;
}

export const updateProfile = update<[profile: Profile], Receipt>("updateProfile");
export const changeEmail = update<[email: string], Receipt>("changeEmail");
export const suspend = signal("suspend");
export const reactivate = signal("reactivate");
/** The same, for callers who wait for it. A signal and an update may have one name. */
export const suspendNow = update<[], Receipt>("suspend");
export const reactivateNow = update<[], Receipt>("reactivate");
export const deleteAccount = signal("delete");
export const getState = query<User>("getState");
export const getHealth = query<Health>("getHealth");

const service = activities<typeof import("./activities.ts")>({
  startToClose: "30s",
  retry: { maximumAttempts: 5 },
});

/** A mail to the user. A separate workflow: it continues when the account is gone. */
export const notifyUser = workflow(
  "NotifyUser",
  (userId: string, status: Status) => service.sendNotification(userId, status),
);

/**
 * For validators, and for handlers too: an update may be accepted while the deletion before it is
 * still being handled.
 */
function existing({ user }: Account): void {
  if (user.status !== "DELETED") return;
  throw new ApplicationFailure("the user account is deleted", {
    type: "AccountDeleted",
    nonRetryable: true,
  });
}
const validate = (_: unknown, account: Account) => existing(account);

function publish(account: Account): Account {
  const { historyLength: historyEvents, historySizeBytes: historyBytes } = workflowInfo();
  const { generation, operations } = account;
  publishState({
    user: account.user,
    health: { generation, operations, historyEvents, historyBytes } satisfies Health,
  });
  return account;
}

const changed = (account: Account, change: Partial<User>): Account =>
  publish({
    ...account,
    user: { ...account.user, updatedAt: now(), ...change },
    operations: account.operations + 1,
  });

const done = (account: Account) =>
  reply({ status: account.user.status, operation: account.operations } satisfies Receipt, account);

/** From one status to another, with a mail; from any other status nothing happens. */
async function turn(userId: string, account: Account, from: Status, to: Status): Promise<Account> {
  existing(account);
  if (account.user.status !== from) return account;
  const id = `${workflowInfo().workflowId}-mail-${account.operations}`;
  await startChild(notifyUser, { id, args: [userId, to], parentClosePolicy: "ABANDON" });
  return changed(account, { status: to });
}

export const userAccount = workflow("UserAccount", {
  messages: {
    updateProfile,
    changeEmail,
    suspend,
    reactivate,
    suspendNow,
    reactivateNow,
    deleteAccount,
    getState,
    getHealth,
  },
  queries: {
    getState: ({ user }: { user: User }) => user,
    getHealth: ({ health }: { health: Health }) => health,
  },
  versioningBehavior: "AUTO_UPGRADE", // an account outlives every version of this code
  rememberUpdates: 1000, // by their ids, over all generations
  async run(userId: string, before?: Account): Promise<User | ContinueAsNew<[string, Account]>> {
    const created: Account = {
      user: { status: "ACTIVE", createdAt: now(), updatedAt: now() },
      generation: 1,
      operations: 0,
    };
    const { state: account } = await receive(publish(before ?? created), [
      on(updateProfile, async ([profile], account) => {
        existing(account);
        await service.validateProfile(profile);
        return done(changed(account, { profile }));
      }, { validate }),
      on(changeEmail, async ([email], account) => {
        existing(account);
        await service.sendVerificationEmail(userId, email);
        return done(changed(account, { pendingEmail: email }));
      }, { validate }),
      on(
        suspendNow,
        async (_, account) => done(await turn(userId, account, "ACTIVE", "SUSPENDED")),
        { validate },
      ),
      on(
        reactivateNow,
        async (_, account) => done(await turn(userId, account, "SUSPENDED", "ACTIVE")),
        { validate },
      ),
      on(
        suspend,
        async (_, account) => noreply(await turn(userId, account, "ACTIVE", "SUSPENDED")),
      ),
      on(
        reactivate,
        async (_, account) => noreply(await turn(userId, account, "SUSPENDED", "ACTIVE")),
      ),
      on(deleteAccount, (_, account) => {
        if (account.user.status === "DELETED") return noreply(account);
        // From here on updates are rejected, while what is kept elsewhere is erased.
        return spawnAsync(
          () => service.eraseData(userId),
          changed(account, { status: "DELETED", deletedAt: now() }),
        );
      }),
    ], { until: ({ user }) => user.status === "DELETED" || workflowInfo().continueAsNewSuggested });
    return account.user.status === "DELETED"
      ? account.user
      : continueAsNew(userId, { ...account, generation: account.generation + 1 });
  },
});
