// Checks that a page shows what a command prints: COMMAND | node examples/printed.js PAGE TEXT
// Takes the block of the page that has this text. Each of its lines must occur in the input, in this order;
// a line of "…" stands for any others. Times, ports and widths may differ.
const fs = require("fs");

const [page, text] = process.argv.slice(2);

const normalized = (line) =>
  line
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\b[\d.]+ s\b/g, "N s")
    .replace(/:\d{2,5}\//g, ":PORT/")
    .replace(/ +/g, " ")
    .trim();

const blocks = fs
  .readFileSync(page, "utf8")
  .split(/^```/m)
  .filter((block, index) => index % 2 === 1 && block.startsWith("\n") && normalized(block).includes(normalized(text)));
if (blocks.length !== 1) {
  throw new Error(`${blocks.length} blocks of ${page} have: ${text}`);
}
const input = fs.readFileSync(0, "utf8");
const printed = input.split("\n").map(normalized);
let next = 0;
for (const line of blocks[0].split("\n").map(normalized)) {
  if (line !== "" && line !== "…") {
    const found = printed.indexOf(line, next);
    if (found < 0) {
      throw new Error(`${page} shows: ${line}\nprinted was:\n${input}`);
    }
    next = found + 1;
  }
}
