// A module that exports `then`: its promise resolves to what that gives.
export function then(resolve: (value: string) => void): void {
  resolve("what then gives");
}
