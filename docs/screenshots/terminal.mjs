// Draws what a command printed as an SVG picture of a terminal. Its dark background is legible on light and dark pages.
//
//   ./tollgate connect acme --sockets 7 --retry | node docs/screenshots/terminal.mjs './tollgate connect acme --sockets 7 --retry'
import { readFileSync, writeFileSync } from "node:fs";

const [command] = process.argv.slice(2);
const printed = readFileSync(0, "utf8").trimEnd().split("\n");
const lines = [`$ ${command}`, ...printed];

const LINE = 20;
const CHARACTER = 8.45;
const TOP = 58;
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(" ", "\u00a0");
const colour = (line) =>
  line.startsWith("$") ? "#f0f6fc"
  : line.includes("admitted") && !line.includes(" of ") ? "#56d364"
  : line.includes("refused") ? "#ff7b72"
  : line.startsWith("Retry in") ? "#e3b341"
  : "#adb7c2";

const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * CHARACTER) + 48;
const height = TOP + lines.length * LINE + 6;
const texts = lines.map((line, i) =>
  `  <text x="24" y="${TOP + i * LINE}" fill="${colour(line)}" textLength="${Math.round(line.length * CHARACTER)}" lengthAdjust="spacingAndGlyphs">${escaped(line)}</text>`);

writeFileSync(new URL("terminal.svg", import.meta.url), `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(command).replaceAll('"', "&quot;")}: five sockets are admitted, two wait in line and are admitted at their retry time" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
  <rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#57606a"/>
  <circle cx="24" cy="22" r="6" fill="#ff5f57"/>
  <circle cx="44" cy="22" r="6" fill="#febc2e"/>
  <circle cx="64" cy="22" r="6" fill="#28c840"/>
${texts.join("\n")}
</svg>
`);
