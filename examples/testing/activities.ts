export function remind(_user: string): Promise<void> {
  return Promise.reject(new Error("tests do not send mail"));
}
