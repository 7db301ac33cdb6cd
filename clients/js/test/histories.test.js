// Random histories: clients of one tenant, on a server that drops sockets, loses answers and refuses.
// HISTORIES=N runs N of them; SEED=N repeats one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../tollgate.js";
import { ManualClock, Server, seeded } from "./world.js";

const FIRST = Number(process.env.SEED ?? 1);
const COUNT = process.env.SEED ? 1 : Number(process.env.HISTORIES ?? 60);
const MINUTE = 60_000;
const FAULTS = ["http", "lost", "handshake", "unavailable", "drop"];

/** Plays a history, and returns what happened. */
async function history(seed) {
  const random = seeded(seed);
  const clock = new ManualClock({ start: random() * 1e6, skewMillis: (random() - 0.5) * 10 * MINUTE });
  const kinds = FAULTS.filter(() => random() < 0.5);
  const often = random() * 0.2;
  let faulty = true;
  const server = new Server({
    clock,
    latency: () => 5 + random() * 150,
    fault: (kind) => faulty && kinds.includes(kind) && random() < often,
  });
  server.tokens = Math.floor(random() * 6);
  server.limits.tenantPerMinute = 10 + Math.floor(random() * 50);
  server.replies = random() < 0.7;
  const clients = Array.from({ length: 1 + Math.floor(random() * 8) }, () => connect({
    tenantId: "acme", sessionUrl: "http://server/session", clock, random,
    fetch: server.fetch, WebSocket: server.WebSocket,
  }));
  const waits = [];
  const failed = new Set();
  clients.forEach((client) => {
    client.addEventListener("state", ({ detail }) => detail.state === "waiting" && waits.push(client));
    client.addEventListener("refused", ({ detail }) => detail.final && failed.add(detail.id));
  });
  const messages = [];
  for (let step = 0; step < 40; step++) {
    const what = random();
    const client = clients[Math.floor(random() * clients.length)];
    if (what < 0.5) {
      const id = `m-${messages.length}`;
      const reply = server.replies && random() < 0.5;
      const outcome = client.send(messages.length, { id, reply }).then(() => "done", ({ code }) => code);
      messages.push({ id, reply, outcome });
    } else if (what < 0.6 && faulty) {
      [...server.sockets].filter(() => random() < 0.5).forEach((socket) => server.drop(socket, random() < 0.3 ? 1001 : 1006));
    } else if (what < 0.64) {
      server.messageTokens = server.messageTokens === Infinity ? 3 : Infinity;
    } else if (what < 0.67) {
      const [session] = server.sessions.values();
      if (session) {
        server.end(session);
      }
    }
    await clock.advance(random() * 5000);
  }
  faulty = false;
  server.messageTokens = Infinity;
  await clock.advance(6 * MINUTE);
  const outcomes = await Promise.all(messages.map(({ outcome }) => outcome));
  return { clock, server, clients, waits, messages, outcomes, failed, kinds };
}

function check({ server, clients, messages, outcomes, failed }) {
  for (const client of clients) {
    assert.equal(client.state, "open", "every client is open at the end");
    assert.equal(client.unanswered, 0, "every message is answered or has failed");
  }
  assert.equal(server.sockets.size, clients.length, "one socket each");
  for (const [name, times] of server.processed) {
    assert.equal(times, 1, `${name} is processed once`);
  }
  messages.forEach(({ id }, i) => {
    const times = [...server.processed.keys()].filter((name) => name.endsWith(`/${id}`)).length;
    assert.ok(times <= 1, `${id} is processed in one session only`);
    if (outcomes[i] === "done") {
      // A message that does not wait for a reply may be refused after it was accepted; then the client says so.
      assert.ok(times === 1 || failed.has(id), `${id} was accepted and is processed`);
    } else {
      assert.match(outcomes[i], /^(UNANSWERED|SESSION_ENDED|THROTTLED)$/, id);
    }
  });
}

/** A client in line comes at its slot, within the shortest grace, and is admitted unless its session ended meanwhile. */
function checkLine({ server }) {
  const told = new Map();
  for (const { at, what, sessionId, status, slot } of server.log.filter((entry) => entry.what === "handshake")) {
    const promised = told.get(sessionId);
    if (promised !== undefined && status !== 403) {
      assert.ok(at >= promised - 200 && at < promised + 2000, `${what} ${status} ${at - promised} ms after its slot`);
      assert.equal(status, 101, "admitted at its first return");
    }
    told.delete(sessionId);
    if (status === 429 && slot !== undefined) {
      told.set(sessionId, slot);
    }
  }
}

test(`${COUNT} random histories, from seed ${FIRST}`, async () => {
  let waited = 0;
  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    try {
      const played = await history(seed);
      check(played);
      if (!["http", "lost", "handshake"].some((kind) => played.kinds.includes(kind))) {
        checkLine(played);
        waited += played.waits.length;
      }
      for (const client of played.clients) {
        client.close();
      }
      await played.clock.advance(MINUTE);
      assert.equal(played.clock.timers, 0, "no timer is left");
      assert.equal(played.server.sockets.size, 0, "no socket is left");
    } catch (failure) {
      failure.message = `SEED=${seed}: ${failure.message}`;
      throw failure;
    }
  }
  assert.ok(COUNT === 1 || waited > 0, "somebody waited in line");
});

test("refusals that come late lose no message, in random histories", async () => {
  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    const random = seeded(seed);
    const clock = new ManualClock({ start: random() * 1e6 });
    const server = new Server({ clock, latency: () => 5 + random() * 150 });
    const client = connect({
      tenantId: "acme", sessionUrl: "http://server/session", clock, random, fetch: server.fetch, WebSocket: server.WebSocket,
    });
    const refused = new Set();
    client.addEventListener("refused", ({ detail }) => detail.final && refused.add(detail.id));
    let sent = 0;
    for (let step = 0; step < 20; step++) {
      server.backlog = random() < 0.5 ? 0 : random() * 30_000;
      server.messageTokens = random() < 0.5 ? Infinity : Math.floor(random() * 10);
      for (let burst = random() * 10; burst > 0; burst--) {
        client.send(sent, { id: `m-${sent++}` });
      }
      await clock.advance(random() * 20_000);
    }
    server.messageTokens = Infinity;
    await clock.advance(6 * MINUTE);
    assert.ok([...server.processed.values()].every((times) => times === 1), `SEED=${seed}: processed once`);
    const ids = Array.from({ length: sent }, (_, n) => `m-${n}`);
    const lost = ids.filter((id) => !refused.has(id) && !server.processed.has(`${client.sessionId}/${id}`));
    assert.deepEqual(lost, [], `SEED=${seed}: lost`);
    assert.equal(client.unanswered, 0);
    client.close();
    await clock.advance(MINUTE);
    assert.equal(clock.timers, 0, "no timer is left");
  }
});
