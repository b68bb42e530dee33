// Mail to a user.
export async function sendReminder(user: string, _left: string): Promise<void> {
  if (user === "") throw new Error("the reminder has no user");
}
