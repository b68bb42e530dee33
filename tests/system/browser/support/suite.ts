// One browser and one site for the tests of a file; every test is skipped by name without a
// browser.
import { after, test } from "node:test";
import { Profile, type Tab } from "./browser.ts";
import { serveSite, SITE, type Site } from "./site.ts";

export interface Suite {
  readonly profile: Profile;
  readonly site: Site;
  /** Runs with a unique store name and a function that opens tabs; they are closed afterwards. */
  check(
    name: string,
    body: (
      t: { store: string; newTab: () => Promise<Tab>; skip: (why: string) => void },
    ) => Promise<void>,
  ): void;
}

export async function browserSuite(flags: readonly string[] = []): Promise<Suite> {
  const profile = new Profile();
  const why = await profile.start(flags);
  const site = await serveSite(SITE);
  let stores = 0;
  after(async () => {
    await profile.remove();
    await site.close();
  });
  return {
    profile,
    site,
    check(name, body) {
      test(
        name,
        { skip: why === undefined ? false : `no browser: ${why}`, timeout: 300_000 },
        async (t) => {
          const tabs: Tab[] = [];
          const newTab = async () => {
            const made = await profile.tab(site.url);
            tabs.push(made);
            return made;
          };
          try {
            await body({ store: `store ${++stores}`, newTab, skip: (why) => t.skip(why) });
          } finally {
            await Promise.all(tabs.map((made) => made.close().catch(() => {})));
          }
        },
      );
    },
  };
}

/** Fails with what was wrong. */
export async function opened(tab: Tab, options: Parameters<Tab["open"]>[0]): Promise<Tab> {
  const wrong = await tab.open(options);
  if (wrong !== undefined) {
    throw new Error(`the tab could not be opened: ${wrong.name}: ${wrong.message}`);
  }
  return tab;
}
