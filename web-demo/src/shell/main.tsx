// Entry point of the page.
import { render } from "preact";
import "../style/tokens.css";
import "../style/base.css";
import { App } from "./app.tsx";
import { watchDrops, watchPastes } from "../open/drop_paste.ts";
import {
  findRun,
  keepTabsRuns,
  openFromAddress,
  openTabsRuns,
  watchFirstScreen,
} from "../open/first.ts";
import { watchKeys } from "../store/keys.ts";
import { keepOffline } from "./offline.ts";
import { startRouter } from "../store/router.ts";
import { acceptCode } from "../open/code_buttons.tsx";
import { keepBreakpoints } from "../code/kept_breakpoints.ts";
import { watchTheme } from "../store/theme.ts";
import { bindAppKeys } from "./app_keys.ts";
import { openServed } from "../served/mod.ts";

watchTheme();
watchKeys();
bindAppKeys();
acceptCode();
watchDrops();
watchPastes();
keepBreakpoints(() => sessionStorage);
const page = document.getElementById("page")!;
page.replaceChildren();
render(<App />, page);

await startRouter(findRun, await openServed() || await openFromAddress());
await openTabsRuns();
keepTabsRuns();
watchFirstScreen();
void keepOffline();
addEventListener("hashchange", () => void openFromAddress());
