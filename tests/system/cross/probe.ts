// Language features that may differ between engines: each group is a function over seeded inputs,
// and returns one text for each. tools/soak/engine_differences.mjs compares the texts of all
// runtimes.

/** A small generator (mulberry32): the inputs must not depend on what is examined. */
function generator(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const view = new DataView(new ArrayBuffer(8));
function bits(x: number): string {
  view.setFloat64(0, x);
  return Number.isNaN(x) ? "NaN" : view.getBigUint64(0).toString(16);
}
function ofBits(random: () => number): number {
  view.setUint32(0, Math.floor(random() * 4294967296));
  view.setUint32(4, Math.floor(random() * 4294967296));
  return view.getFloat64(0);
}

type Group = (random: () => number, n: number) => string[];
const each = (n: number, make: (i: number) => string): string[] =>
  Array.from({ length: n }, (_, i) => make(i));
const pick = <T>(random: () => number, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)]!;

/** Numbers of everyday size, small ones, and any. */
function number(random: () => number): number {
  const r = random();
  if (r < 0.4) return (random() - 0.5) * 20;
  if (r < 0.6) return (random() - 0.5) * 2000;
  if (r < 0.8) return random() * 2 - 1;
  return ofBits(random);
}

const groups: { [name: string]: Group } = {};

const UNARY =
  "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2 log10 cbrt sqrt fround"
    .split(
      " ",
    );
for (const name of UNARY) {
  const f = Math[name as "sin"];
  groups[`Math.${name}`] = (random, n) => each(n, () => bits(f(number(random))));
}
groups["Math.atan2"] = (random, n) =>
  each(n, () => bits(Math.atan2(number(random), number(random))));
groups["Math.hypot"] = (random, n) =>
  each(n, () => bits(Math.hypot(number(random), number(random))));
groups["Math.pow"] = (random, n) =>
  each(n, () => bits(Math.pow(Math.abs(number(random)), number(random))));
groups["x ** y"] = (random, n) => each(n, () => bits(Math.abs(number(random)) ** number(random)));
groups["x ** small integer"] = (random, n) =>
  each(n, () => bits(number(random) ** Math.floor(random() * 12 - 2)));
groups["x ** 2, x ** 3"] = (random, n) =>
  each(n, () => `${bits(number(random) ** 2)} ${bits(number(random) ** 3)}`);
groups["2 ** n, 10 ** n"] = (_random, n) =>
  each(n, (i) => `${bits(2 ** ((i % 1000) - 500))} ${bits(10 ** ((i % 600) - 300))}`);
groups["+ - * / %"] = (random, n) =>
  each(n, () => {
    const [x, y] = [number(random), number(random)];
    return [x + y, x - y, x * y, x / y, x % y].map(bits).join(" ");
  });
groups["String(number)"] = (random, n) => each(n, () => `${number(random)} ${ofBits(random)}`);
groups["Number(string)"] = (random, n) =>
  each(
    n,
    () =>
      bits(Number(`${random()}${Math.floor(random() * 1e9)}e${Math.floor(random() * 600 - 300)}`)),
  );
groups["toFixed, toPrecision, toExponential"] = (random, n) =>
  each(n, () => {
    const [x, digits] = [number(random), Math.floor(random() * 20) + 1];
    return `${x.toFixed(digits)} ${x.toPrecision(digits)} ${x.toExponential(digits)}`;
  });
groups["toString(radix) of fractions"] = (random, n) =>
  each(n, () => number(random).toString(2 + Math.floor(random() * 35)));

const WORDS = [
  "a",
  "A",
  "ä",
  "Ä",
  "z",
  "Z",
  "ß",
  "ss",
  "é",
  "e\u0301",
  "1",
  "10",
  "2",
  "-",
  " ",
  "_",
  "ø",
  "æ",
  "ı",
  "I",
  "中",
  "あ",
  "ア",
  "\u{1F600}",
  "я",
];
const word = (random: () => number): string =>
  each(1 + Math.floor(random() * 5), () => pick(random, WORDS)).join("");
const point = (random: () => number): string => {
  const code = Math.floor(random() * (random() < 0.7 ? 0x1ffff : 0x10ffff));
  return String.fromCodePoint(code >= 0xd800 && code < 0xe000 ? 0x78 : code);
};
const LOCALES = ["en-US", "de-DE", "sv-SE", "ja-JP", "tr-TR", "ar-EG", "hi-IN", "zh-CN"];

groups["localeCompare (en-US)"] = (random, n) =>
  each(n, () => String(Math.sign(word(random).localeCompare(word(random), "en-US"))));
groups["localeCompare (eight locales)"] = (random, n) =>
  each(n, () => String(Math.sign(word(random).localeCompare(word(random), pick(random, LOCALES)))));
groups["localeCompare of any characters (en-US)"] = (random, n) =>
  each(n, () => String(Math.sign(point(random).localeCompare(point(random), "en-US"))));
groups["toLocaleLowerCase, toLocaleUpperCase"] = (random, n) =>
  each(n, () => {
    const [text, locale] = [word(random), pick(random, LOCALES)];
    return text.toLocaleLowerCase(locale) + text.toLocaleUpperCase(locale);
  });
groups["toLowerCase, toUpperCase, normalize of any character"] = (random, n) =>
  each(n, () => {
    const text = point(random);
    return [text.toLowerCase(), text.toUpperCase(), text.normalize("NFD"), text.normalize("NFKC")]
      .map(escape).join(" ");
  });
groups["/\\p{L}/u, /\\w/iu of any character"] = (random, n) =>
  each(n, () => {
    const text = point(random);
    return `${/\p{L}/u.test(text)} ${/\p{Emoji}/u.test(text)} ${/\p{Script=Greek}/u.test(text)} ${
      /\w/iu.test(text)
    }`;
  });
const day = (random: () => number): Date => new Date(Math.floor(random() * 4e12 - 1e12));
const utc = { timeZone: "UTC" } as const;
groups["number.toLocaleString() (en-US)"] = (random, n) =>
  each(n, () => number(random).toLocaleString("en-US"));
groups["number.toLocaleString() (eight locales)"] = (random, n) =>
  each(
    n,
    () =>
      number(random).toLocaleString(pick(random, LOCALES), {
        style: "currency",
        currency: pick(random, ["EUR", "USD", "JPY"]),
      }),
  );
groups["date.toLocaleString() (en-US, UTC)"] = (random, n) =>
  each(n, () => day(random).toLocaleString("en-US", utc));
groups["date.toLocaleString() (eight locales, long)"] = (random, n) =>
  each(
    n,
    () =>
      day(random).toLocaleString(pick(random, LOCALES), {
        ...utc,
        dateStyle: "full",
        timeStyle: "long",
      }),
  );
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Asia/Tokyo",
  "Africa/Casablanca",
  "America/Sao_Paulo",
];
groups["date in five time zones"] = (random, n) =>
  each(
    n,
    () =>
      day(random).toLocaleString("en-US", {
        timeZone: pick(random, ZONES),
        dateStyle: "short",
        timeStyle: "short",
      }),
  );
groups["Intl.PluralRules, ListFormat, RelativeTimeFormat"] = (random, n) =>
  each(n, () => {
    const locale = pick(random, LOCALES);
    const x = Math.floor(random() * 200);
    return new Intl.PluralRules(locale).select(x) +
      new Intl.ListFormat(locale).format([word(random), "b", "c"]) +
      new Intl.RelativeTimeFormat(locale).format(x - 100, "day");
  });
groups["Intl.Segmenter"] = (random, n) =>
  each(
    n,
    () =>
      [...new Intl.Segmenter("en-US", { granularity: "word" }).segment(word(random) + word(random))]
        .map((s) => s.segment).join(
          "|",
        ),
  );

groups["Date.parse of ISO forms"] = (random, n) =>
  each(n, () => {
    const iso = day(random).toISOString();
    return String(
      Date.parse(
        pick(random, [
          iso,
          iso.slice(0, 10),
          iso.slice(0, 7),
          iso.slice(0, 19) + "Z",
          iso.slice(0, 16) + "+05:30",
        ]),
      ),
    );
  });
groups["Date.parse of toString and toUTCString"] = (random, n) =>
  each(
    n,
    () => String(Date.parse(random() < 0.5 ? day(random).toUTCString() : day(random).toString())),
  );
groups["Date.parse of other texts"] = (random, n) =>
  each(n, () => {
    const [d, m, y] = [
      1 + Math.floor(random() * 31),
      1 + Math.floor(random() * 12),
      1990 + Math.floor(random() * 60),
    ];
    const month = pick(random, ["Jan", "february", "Sept", "Dezember", "march"]);
    const text = pick(random, [
      ...[
        `${m}/${d}/${y} UTC`,
        `${y}-${m}-${d} UTC`,
        `${d}.${m}.${y} UTC`,
        `${month} ${d}, ${y} UTC`,
        `${d} ${month} ${y} 3pm UTC`,
      ],
      ...[
        `${y}/${m}/${d} 1:2:3 GMT+2`,
        `${y}${m}${d} UTC`,
        `${m}-${d}-${y % 100} UTC`,
        `(x) ${month} ${d} ${y} UTC`,
        `${y} ${month} UTC`,
      ],
    ]);
    return `${text} = ${Date.parse(text)}`;
  });

groups["sort: stability"] = (random, n) =>
  each(
    n / 20,
    () =>
      each(60, (i) => `${Math.floor(random() * 6)} ${i}`).sort((x, y) =>
        x.charCodeAt(0) - y.charCodeAt(0)
      ).join(),
  );
groups["sort: which pairs are compared"] = (random, n) =>
  each(n / 20, () => {
    const calls: string[] = [];
    each(12, () => String(Math.floor(random() * 100))).sort((
      x,
      y,
    ) => (calls.push(`${x}:${y}`), Number(x) - Number(y)));
    return calls.join();
  });
groups["sort: a comparator that contradicts itself"] = (random, n) =>
  each(n / 20, () => {
    const other = generator(Math.floor(random() * 1e9));
    return each(20, String).sort(() => other() - 0.5).join();
  });
groups["order of keys"] = (random, n) =>
  each(n / 20, () => {
    const object: { [key: string]: number } = {};
    for (
      let i = 0;
      i < 20;
      i++
    ) object[random() < 0.5 ? word(random) : String(Math.floor(random() * 5000))] = i;
    return JSON.stringify([
      object,
      Object.keys({ ...object, b: 1, 1: 1 }),
      structuredClone(object),
    ]);
  });
groups["messages of the language's own errors"] = () => {
  const faults: (() => unknown)[] = [
    () => (undefined as unknown as { x: { y: number } }).x.y,
    () => (null as unknown as () => void)(),
    () => JSON.parse("{oops}"),
    () => new Array(-1),
    () => BigInt("x"),
    () => "x".repeat(-1),
    () => Object.defineProperty(Object.freeze({}), "a", { value: 1 }),
    () => [].reduce((x: never) => x),
    () => new RegExp(WORDS[0] + "("),
    () => decodeURIComponent("%"),
    () => (1).toFixed(101),
    () => structuredClone(() => {}),
  ];
  return faults.map((fault) => {
    try {
      return `no error: ${fault()}`;
    } catch (e) {
      return `${(e as Error).name}: ${(e as Error).message}`;
    }
  });
};
groups["JSON.stringify"] = (random, n) =>
  each(
    n,
    () =>
      JSON.stringify({
        a: number(random),
        b: word(random) + "\ud800",
        c: [point(random), -0, 1e21, NaN],
      }),
  );
groups["TextEncoder, encodeURIComponent, btoa"] = (random, n) =>
  each(
    n,
    () =>
      [...new TextEncoder().encode(point(random) + "\udc00")].join() +
      encodeURIComponent(point(random)),
  );
groups["URL"] = (random, n) =>
  each(n, () => {
    try {
      return new URL(
        `/${word(random)}?q=${word(random)}#${word(random)}`,
        `https://${pick(random, ["example.com", "ex.ämple", "[::1]", "0x7f.1"])}:${
          Math.floor(random() * 70000)
        }`,
      ).href;
    } catch (e) {
      return (e as Error).name;
    }
  });

/** The texts of each group. */
export function probe({ n, seed }: { n: number; seed: number }): { [group: string]: string[] } {
  const all: { [group: string]: string[] } = {};
  for (const [name, group] of Object.entries(groups)) all[name] = group(generator(seed), n);
  return all;
}
