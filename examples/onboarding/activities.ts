// Activities of the onboarding example. They talk to the world: here, to tables in memory.

export interface Account {
  readonly id: string;
  readonly userId: string;
}

/**
 * Creates the user's account; the same user always gets the same account, so running it again does
 * no harm.
 */
export async function createAccount(userId: string): Promise<Account> {
  return { id: `acct-${userId}`, userId };
}

/** Sends the welcome mail and returns its message id. */
export async function sendWelcome(account: Account): Promise<string> {
  return `welcome-${account.id}`;
}
