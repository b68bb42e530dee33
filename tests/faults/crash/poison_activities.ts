// Activities of the crash loop with poison: what the bad one throws cannot be read.
export function good(n: number): number {
  return n;
}

export function bad(n: number): number {
  if (n % 2 === 0) {
    const { proxy, revoke } = Proxy.revocable(new Error("x"), {});
    revoke();
    throw proxy;
  }
  const error = new Error("x");
  Object.defineProperty(error, "name", {
    get: () => {
      throw new Error("name");
    },
  });
  Object.defineProperty(error, "cause", { value: error });
  throw error;
}
