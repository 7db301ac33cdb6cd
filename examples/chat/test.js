// Chats in Chromium: node test.js SESSION_URL PORT. The tier of tenant acme admits six connections a minute.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import puppeteer from "puppeteer-core";

const [sessionUrl, port] = process.argv.slice(2);
const address = `http://127.0.0.1:${port}/`;
const chat = `${address}?tenant=acme&sessionUrl=${sessionUrl}`;

// The server ends when its standard input is closed.
const server = spawn("npm", ["start", "--", `--serve=127.0.0.1:${port}`, "--log-level=warning"], {
  stdio: ["pipe", "ignore", "inherit"],
});
for (let second = 0; !(await fetch(address).catch(() => false)); second++) {
  assert.ok(second < 30, `no server at ${address}`);
  await setTimeout(1_000);
}

const browser = await puppeteer.launch({
  args: ["--no-sandbox"],
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
});

async function open(url) {
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

const shows = (page, id, pattern) =>
  page.waitForFunction(
    (id, pattern) => new RegExp(pattern).exec(document.getElementById(id).textContent)?.[0],
    // Pages in the background draw no frames, so the page is polled.
    { polling: 200, timeout: 60_000 },
    id,
    pattern,
  );

async function say(page, text) {
  await page.type("#text", text);
  await page.keyboard.press("Enter");
}

try {
  const host = await open(chat);
  await shows(host, "status", "^open$");
  const guest = await open(await host.$eval("#invitation", (link) => link.href));
  await shows(guest, "status", "^open$");

  await say(host, 'Hello, "guest"');
  await shows(guest, "messages", 'Hello, "guest"');
  await say(guest, "Hello, host");
  await shows(host, "messages", 'Hello, "guest".*Hello, host');

  // More chats come until one has to wait for some seconds.
  let late;
  let seconds = 0;
  while (seconds < 4) {
    late = await open(chat);
    const status = await (await shows(late, "status", "^open$|about \\d+ s")).jsonValue();
    seconds = Number(/\d+/.exec(status)?.[0] ?? 0);
  }
  const fewer = Array.from({ length: seconds - 1 }, (_, i) => i + 1).join("|");
  await shows(late, "status", `about (${fewer}) s`);
  await say(late, "At last");
  await shows(late, "status", "^open$");
  await shows(late, "messages", "At last");
  assert.equal(await late.$$eval("#messages li", (items) => items.length), 1);
} finally {
  await browser.close();
  server.stdin.end();
}
