import assert from "node:assert/strict";
import { test } from "node:test";
import { byId, document, listeners, settled, until } from "./browser.js";

/** The requests that are not answered yet: `{path, answer(body, headers)}`. */
let open = [];
globalThis.fetch = (path) => new Promise((resolve) => {
  open.push({ path, answer: (body, headers = {}, status = 200) => resolve(new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })) });
});
/** Waits for a request whose path begins so, and takes it. */
async function taken(start) {
  await until(() => open.some(({ path }) => path.startsWith(start)));
  const found = open.find(({ path }) => path.startsWith(start));
  open = open.filter((request) => request !== found);
  return found;
}
const paths = () => open.map(({ path }) => path);
function go(hash) {
  globalThis.location.hash = hash;
  listeners.hashchange.forEach((run) => run());
}

document.hidden = true;
globalThis.location.hash = "#/audit?range=1h";
const loaded = import("../pages/operator.js");

test("a page that is opened in the background asks for nothing but its settings until it is shown", async () => {
  (await taken("config.json")).answer({});
  await loaded;
  await until(() => document.title === "Audit · Tollgate");
  await settled();
  assert.deepEqual(paths(), []);
  document.hidden = false;
  listeners.visibilitychange.forEach((run) => run());
  assert.deepEqual(paths().map((path) => path.split("?")[0]), ["audit", "tiers"]);
});

test("with a browser clock that is an hour fast, the audit is asked for again on the deployment's clock", async () => {
  const now = Date.now() - 3_600_000;
  const from = ({ path }) => Date.parse(new URLSearchParams(path.split("?")[1]).get("from"));
  const wrong = await taken("audit");
  assert.ok(Math.abs(from(wrong) - now) < 120_000);
  (await taken("tiers")).answer({ tiers: [] }, { date: new Date(now).toUTCString() });
  await settled();
  wrong.answer({ detail: "from is in the future" }, {}, 400);
  assert.ok(Math.abs(from(await taken("audit")) - (now - 3_600_000)) < 120_000);
});

test("an answer to an earlier request does not hide that all limits are lifted", async () => {
  go("#/health");
  const alarms = await taken("alarms");
  (await taken("admit-all")).answer({ on: true, until: "2026-03-12T15:05:00Z", reason: "attack", since: "2026-03-12T14:05:00Z", by: "alice" }, { "tollgate-admit-all": "until=2026-03-12T15:05:00Z" });
  await until(() => byId("lifted").textContent.includes("lifted"));
  alarms.answer({ alarms: [] });
  await settled();
  assert.match(byId("lifted").textContent, /^All limits are lifted until/);
});

test("a fragment with the name of a property of all objects opens the overview", async () => {
  for (const view of ["constructor", "__proto__", "toString"]) {
    document.title = "";
    go(`#/${view}`);
    await until(() => document.title !== "");
    await until(() => document.title !== "Loading · Tollgate");
    assert.equal(document.title, "Overview · Tollgate", view);
  }
});
