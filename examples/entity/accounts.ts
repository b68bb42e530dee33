// How clients reach accounts: by the user's id, which is the workflow's. Nothing has to know
// whether the account's workflow runs already.
import type { Client, WorkflowOptions } from "temporalex/client";
import { type Profile, type Receipt, suspend, updateProfile, userAccount } from "./workflow.ts";

const accountId = (userId: string) => `user-${userId}`;

/** One account per user id, and none a second time when it was deleted. */
const optionsOf = (userId: string) => ({
  id: accountId(userId),
  args: [userId] as [string],
  idConflictPolicy: "USE_EXISTING",
  idReusePolicy: "REJECT_DUPLICATE",
  executionTimeout: "3650 days", // of all generations together: a safety net
} satisfies WorkflowOptions & { args: [string] });

/** The account; it is there already, or begins. */
export const openAccount = (client: Client, userId: string) =>
  client.start(userAccount, optionsOf(userId));

export const accountOf = (client: Client, userId: string) =>
  client.getHandle(userAccount, accountId(userId));

/**
 * Update-with-start: the account begins with its profile. `updateId`: a second call with it changes
 * nothing, and gets the first one's answer.
 */
export function saveProfile(
  client: Client,
  userId: string,
  profile: Profile,
  updateId?: string,
): Promise<Receipt> {
  return client.executeUpdateWithStart(userAccount, {
    ...optionsOf(userId),
    update: updateProfile,
    updateArgs: [profile],
    ...(updateId !== undefined && { updateId }),
  });
}

/** Signal-with-start: an account that is not there yet begins, and is suspended. */
export async function block(client: Client, userId: string): Promise<void> {
  await client.signalWithStart(userAccount, { ...optionsOf(userId), signal: suspend });
}
