// The text form of arguments: one JSON value per line, or nothing.

/** Throws an Error that names the invalid argument. */
export function parseArguments(text: string): unknown[] {
  const whole = text.trim();
  if (whole === "") return [];
  try {
    return [JSON.parse(whole)];
  } catch {
    return whole.split("\n").filter((line) => line.trim() !== "").map((line, i) => {
      try {
        return JSON.parse(line) as unknown;
      } catch (error) {
        throw new Error(
          `argument ${i + 1} is not JSON (${
            (error as Error).message
          }); quote string values: "PEN-2"`,
        );
      }
    });
  }
}
