// Makes the change that a page shows: node examples/changed.js PAGE DIRECTORY
// Takes the page's first block in the language diff. The lines that stay say where each hunk belongs; they occur once in their file.
const fs = require("fs");
const path = require("path");

const [page, directory] = process.argv.slice(2);

const block = fs.readFileSync(page, "utf8").match(/^```diff\n(.*?)^```/ms);
if (!block) {
  throw new Error(`${page} has no block in the language diff`);
}

/** The lines of a hunk, without those that begin with a sign, and without the signs of others. */
const without = (hunk, sign) => hunk.split("\n").filter((line) => !line.startsWith(sign)).map((line) => line.slice(1)).join("\n");

for (const part of block[1].split(/^--- /m).slice(1)) {
  const [name, ...hunks] = part.split(/\n@@\n/);
  const file = path.join(directory, name);
  let text = fs.readFileSync(file, "utf8");
  for (const hunk of hunks) {
    const before = without(hunk.trimEnd(), "+");
    if (text.split(before).length !== 2) {
      throw new Error(`${file} must have these lines once:\n${before}`);
    }
    text = text.replace(before, () => without(hunk.trimEnd(), "-"));
  }
  fs.writeFileSync(file, text);
}
