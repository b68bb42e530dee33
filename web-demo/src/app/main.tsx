// Entry point of the page.
import { render } from "preact";
import "../style/tokens.css";
import "../style/base.css";
import { App } from "./app.tsx";
import { watchDrops, watchPastes } from "./drop_paste.ts";
import { findRun, keepTabsRuns, openFromAddress, openTabsRuns, watchFirstScreen } from "./first.ts";
import { watchKeys } from "./keys.ts";
import { keepOffline } from "./offline.ts";
import { startRouter } from "./router.ts";
import { openCodeDoors } from "../realm/code_doors.tsx";
import { keepBreakpoints } from "../code/kept_breakpoints.ts";
import { watchTheme } from "./theme.ts";
import { bindAppKeys } from "./app_keys.ts";
import { openServed } from "../served/mod.ts";

watchTheme();
watchKeys();
bindAppKeys();
openCodeDoors();
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
