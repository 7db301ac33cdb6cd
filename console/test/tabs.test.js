import assert from "node:assert/strict";
import { test } from "node:test";
import { format, parse } from "../pages/router.js";
import { Sources } from "../pages/sources.js";
import { deadLetterCount, redriveResult } from "../pages/words.js";

/** Sources with a control plane that answers `{}`, and the paths it was asked for. */
function recorded() {
  const asked = [];
  return { asked, sources: new Sources(async (path) => {
    asked.push(path);
    return { body: {} };
  }) };
}

test("each page of sessions is a task of its own, and the address keeps its cursor", async () => {
  const { asked, sources } = recorded();
  const { id, query } = parse(format({ view: "tenant", id: "acme", tab: "sessions", query: { cursor: "a_b-c=" } }));
  const [first, next] = [sources.sessions("acme"), sources.sessions(id, query.cursor)];
  await first.load();
  await next.load();
  assert.notEqual(first.key, next.key);
  assert.deepEqual(asked, ["tenants/acme/sessions?limit=50", "tenants/acme/sessions?limit=50&cursor=a_b-c%3D"]);
});

test("dead letters are looked at once a minute, as each look counts as a receive", async () => {
  const { asked, sources } = recorded();
  const task = sources.deadLetters("acme");
  await task.load();
  assert.equal(task.everyMs, 60_000);
  assert.deepEqual(asked, ["tenants/acme/dead-letters"]);
});

test("a count that is not complete is said to be the least", () => {
  assert.equal(deadLetterCount({ count: 1, complete: true }), "1 dead letter");
  assert.equal(deadLetterCount({ count: 40, complete: false }), "At least 40 dead letters");
});

test("a redrive says what it moved, and whether to repeat it", () => {
  assert.equal(redriveResult({ moved: 2, complete: true }), "2 messages moved back.");
  assert.equal(redriveResult({ moved: 0, complete: false }), "0 messages moved back. There may be more: move again.");
});
