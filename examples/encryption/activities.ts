export const authorize = (card: string, cents: number): Promise<string> =>
  Promise.resolve(`${cents} cents of card ${card}`);
