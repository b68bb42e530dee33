// The page begins here.
import { render } from "preact";
import "../style/tokens.css";
import "../style/base.css";
import { App } from "./app.tsx";
import { openSample } from "./first.ts";
import { watchTheme } from "./theme.ts";

watchTheme();
const page = document.getElementById("page")!;
page.replaceChildren();
render(<App />, page);
void openSample("shopping_cart");
