// The style sheet of a report. The content security policy contains its digest and allows no other
// style or script.
import { DARK, declared, LIGHT } from "./colors.ts";
import { looksAsRules } from "./drawing_looks.ts";

const SANS =
  `ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",sans-serif`;
const MONO = `ui-monospace,"SF Mono","Cascadia Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace`;
const KINDS = ["activity", "timer", "signal", "update", "child", "marker", "task", "red", "ok"];

const BASE = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/21px ${SANS};font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
main,footer{max-width:1144px;margin:0 auto;padding:0 32px}
main{padding-top:32px}
footer{padding-top:8px;padding-bottom:40px;color:var(--pencil);font-size:12.5px}
h1,h2,h3,p,dl,dd,ul,ol,figure,table,pre{margin:0;padding:0}
ul,ol{list-style:none}
h1{font-size:28px;line-height:34px;font-weight:700;letter-spacing:-.015em}
h2{font-size:16px;line-height:22px;font-weight:650}
h3,.label{font-size:13px;line-height:18px;font-weight:650;color:var(--ink-2)}
h1 .id,article>header h2 .id{font:500 .68em ${MONO};color:var(--ink-2);letter-spacing:0}
article>header h2{font-size:22px;line-height:28px}
code,pre,.d,.id{font-family:${MONO}}
code,pre{font-size:12.5px;line-height:19px}
a{color:inherit;text-decoration-color:var(--line-2);text-underline-offset:3px}
a:focus-visible,summary:focus-visible{outline:2px solid var(--focus);outline-offset:2px;border-radius:4px}
.soft{color:var(--pencil)}
.failed{color:var(--red)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.note{padding:8px 12px;margin:12px 0;border-left:3px solid var(--hl-line);background:var(--hl-band);border-radius:0 6px 6px 0}
.say{font-size:15.5px;line-height:24px}
${
  KINDS.map((kind) => `.k-${kind}{color:var(--${kind})}`).join("")
}.k-run,.k-external{color:var(--ink)}
.g{width:12px;height:12px;flex:none}
`;

const HEAD = `
article{margin-bottom:56px}
article>header{margin-bottom:20px}
.pills{display:flex;flex-wrap:wrap;gap:6px;margin:12px 0 16px}
.pill{display:inline-block;padding:1px 10px;border-radius:99px;background:var(--line);color:var(--ink-2);font-size:12.5px;line-height:20px;font-weight:600;white-space:nowrap}
.pill.ok{background:var(--ok-bg);color:var(--ok)}
.pill.red{background:var(--red-bg);color:var(--red)}
.pill.hl{background:var(--hl-band);color:var(--hl-ink)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr));gap:2px 32px}
.facts div{display:flex;gap:10px;padding:4px 0;border-bottom:1px solid var(--line)}
.facts dt{flex:0 0 92px;color:var(--pencil)}
.facts dd{min-width:0}
section{background:var(--sheet);border:1px solid var(--line);border-radius:10px;padding:16px 20px;margin-top:14px}
section>h2,section>h3{margin-bottom:8px}
section.parting{border-color:var(--red-line);box-shadow:inset 3px 0 var(--red)}
section.why.waits{box-shadow:inset 3px 0 var(--hl-line)}
section.why.failed{box-shadow:inset 3px 0 var(--red)}
.findings li{display:flex;gap:10px;align-items:baseline;padding:3px 0}
.findings .g{position:relative;top:1px}
.wells{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,300px),1fr));gap:14px}
.wells>div{min-width:0}
.label{margin:4px 0}
pre{padding:10px 12px;background:var(--sunk);border-radius:6px;white-space:pre-wrap;tab-size:2;color:var(--ink)}
pre+pre{margin-top:6px}
table{border-collapse:collapse;width:100%;margin:8px 0}
th,td{padding:5px 12px 5px 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:baseline;font-weight:inherit}
thead th{color:var(--pencil);font-size:12.5px}
th .g{margin-right:8px;position:relative;top:1px}
.n{text-align:right;white-space:nowrap;width:1%}
thead .n,td.n{padding-left:16px}
.names td:last-child{width:30%;white-space:nowrap}
.meter{width:60px;height:6px;fill:currentColor;margin-right:6px}
.meter .ground{fill:var(--sunk)}
.fit{white-space:nowrap;width:1%}
.sides td{font-family:${MONO};font-size:12.5px}
.sides th[scope=row]{color:var(--pencil);width:18%}
.sides .counts td:nth-child(2){color:var(--red)}
.repair{margin-top:12px}
.repair pre{margin-top:6px}
.code{margin:14px 0 4px;border:1px solid var(--line);border-radius:8px;overflow:hidden}
.code figcaption{padding:5px 12px;background:var(--sunk);font:12.5px/19px ${MONO};color:var(--ink-2)}
.lines{padding:6px 0}
.l{display:flex;flex-wrap:wrap;padding:1px 12px 1px 0}
.l .n{flex:0 0 46px;padding-right:12px;color:var(--pencil);font:12px/19px ${MONO};user-select:none}
.l code{flex:1 1 0;min-width:0;white-space:pre-wrap;tab-size:2}
.l.at{background:var(--hl-band);box-shadow:inset 3px 0 var(--hl-line)}
.l.at.red{background:var(--red-bg);box-shadow:inset 3px 0 var(--red)}
.l .mark{flex:0 1 auto;margin-left:46px;font-weight:600;font-size:12.5px;line-height:19px;color:var(--hl-ink)}
.l.red .mark{color:var(--red)}
.t-keyword{font-weight:650}
.t-comment{font-style:italic;color:var(--pencil)}
.t-string{color:var(--ink-2)}
.l.at .t-comment{color:inherit}
`;

const ROWS = `
.row{border-top:1px solid var(--line)}
.rows.many>.row{content-visibility:auto;contain-intrinsic-size:auto 29px}
.rows>.row:first-child{border-top:0}
.row>summary{display:flex;align-items:baseline;gap:10px;padding:4px 0;cursor:pointer;list-style:none}
.row>summary::-webkit-details-marker{display:none}
.row>summary .g{position:relative;top:1px}
.row>summary:hover,.all>summary:hover{background:var(--sunk)}
.row .w{flex:1;min-width:0}
.row .w b{font-weight:600}
.row .d{font-size:12.5px;color:var(--ink-2)}
.row .d.failed{color:var(--red)}
.row>summary time{color:var(--pencil);font-size:12.5px;white-space:nowrap}
.row>summary::after{content:"";flex:none;width:6px;height:6px;border:solid var(--pencil);border-width:0 1.5px 1.5px 0;transform:rotate(45deg) translate(-2px,-2px)}
.row[open]>summary::after{transform:rotate(225deg)}
.row.bad>summary b,.row.bad>summary .w{color:var(--red)}
.row.task>summary{padding:0;color:var(--pencil);font-size:12px;line-height:18px}
.row.task .w{padding-left:22px}
.row .body{padding:2px 0 14px 22px}
.all{margin-top:12px;border-top:1px solid var(--line)}
.all>summary{padding:8px 0;cursor:pointer;font-weight:600}
.events{margin-top:8px;white-space:pre-wrap;color:var(--ink-2);font-size:12.5px}
.row.ev .w{font:12.5px/19px ${MONO};color:var(--ink-2)}
.row.ev b{font-family:${SANS};color:var(--ink)}
.row.ev pre{margin-bottom:10px}
.gap{padding:10px 0;color:var(--hl-ink);font-weight:600;text-align:center;background:var(--hl-band)}
.verdicts{display:flex;flex-wrap:wrap;gap:10px 28px;margin:16px 0 0}
.verdicts b{font-size:22px;line-height:28px;display:block}
.runs td:nth-child(1){white-space:nowrap;width:1%}
.runs td:nth-child(2){width:36%}
`;

const DRAWING = `
.tl{display:none;width:100%;height:auto;font:11.5px/1 ${SANS};color:var(--ink)}
.tl[data-w="300"]{max-width:420px}
.tl[data-w="620"]{max-width:760px}
${looksAsRules("tl")}@media (max-width:559px){.tl[data-w="300"]{display:block}}
@media (min-width:560px) and (max-width:899px){.tl[data-w="620"]{display:block}}
@media (min-width:900px){.tl[data-w="1080"]{display:block}}
`;

const NARROW = `
@media (max-width:640px){
main,footer{padding-left:16px;padding-right:16px}
main{padding-top:20px}
section{margin-left:-8px;margin-right:-8px;padding:12px}
h1{font-size:22px;line-height:28px}
h1 .id{display:block}
.wide{display:none}
.names td:last-child{width:auto}
.names thead .n,.names td.n{padding-left:0;padding-right:10px}
.names th .g{margin-right:4px}
.sides thead tr,.sides tbody tr{display:grid;grid-template-columns:1fr 1fr}
.sides th:first-child{grid-column:1/-1;width:auto;border:0;padding-bottom:0}
.sides thead th:first-child{display:none}
th,td{padding-right:8px}
.l .n{flex-basis:34px;padding-right:8px}
.l .mark{margin-left:34px}
.row .body{padding-left:0}
.row>summary{gap:8px}
.meter{display:none}
.facts dt{flex-basis:80px}
}
`;

const PRINTED = `
@page{margin:14mm}
@media print{
body{background:#fff;font-size:11px;line-height:16px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main,footer{max-width:none;padding:0}
section{border:0;border-top:1px solid var(--line);border-radius:0;padding:8px 0;box-shadow:none!important;background:none}
section>h2,section>h3,article>header{break-after:avoid}
.row,tr,.l,.tl{break-inside:avoid}
.rows.many>.row{content-visibility:visible}
.row>summary::after,.all,main .all>summary{display:none}
.tl.tl{display:none}
.tl[data-w="620"]{display:block;max-width:none}
pre,code,.d{font-size:10px;line-height:14px}
}
`;

/** Text of the style element. */
export const STYLE = `
:root{${declared(LIGHT)}color-scheme:light}
@media screen and (prefers-color-scheme:dark){:root{${declared(DARK)}color-scheme:dark}}
${BASE}${HEAD}${ROWS}${DRAWING}${NARROW}${PRINTED}`;

/**
 * Digest of the style sheet for the policy. A test checks it and prints the new value after a
 * change.
 */
export const STYLE_DIGEST = "sha256-7I+cA9v8hPWKThcqOssj4pStZVmBcbnW9WMamo5uRPU=";
