import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../tollgate.js";
import { LIMITS, ManualClock, Server, seeded } from "./world.js";

const MINUTE = 60_000;
const FIVE_MINUTES_FAST = 5 * MINUTE;

/** A client of a server whose events are noted. */
function clientOf(server, options = {}) {
  const { clock } = server;
  const client = connect({
    tenantId: "acme", sessionUrl: "http://server/session", clock, random: seeded(1),
    fetch: server.fetch, WebSocket: server.WebSocket, ...options,
  });
  client.events = [];
  for (const type of ["state", "waiting", "session", "message", "reply", "push", "refused"]) {
    client.addEventListener(type, ({ detail }) => client.events.push({ type, at: clock.now(), ...detail }));
  }
  client.of = (type) => client.events.filter((event) => event.type === type);
  client.states = () => client.of("state").map(({ state }) => state);
  return client;
}

/** A server, and a function that makes clients of it. */
function world({ random = seeded(1), ...options } = {}) {
  const clock = new ManualClock({ skewMillis: FIVE_MINUTES_FAST });
  const server = new Server({ clock, ...options });
  return { clock, server, client: (more) => clientOf(server, { random, ...more }) };
}

async function opened(options, clientOptions) {
  const made = world(options);
  const client = made.client(clientOptions);
  await made.clock.advance(1000);
  assert.equal(client.state, "open");
  return { ...made, client };
}

/** Settles to `{value}` or `{code}`. */
const outcome = (promise) => promise.then((value) => ({ value }), (error) => ({ code: error.code, error }));

test("creates a session, opens a socket, and exchanges messages", async () => {
  const { clock, client, server } = await opened();
  const [session] = client.of("session");
  assert.equal(session.isNew, true);
  assert.equal(session.sessionId, client.sessionId);

  const accepted = client.send({ n: 1 }, { id: "m-1" });
  const answered = client.send({ n: 2 }, { reply: true, id: "m-2" });
  await clock.advance(1000);

  assert.deepEqual(await accepted, { id: "m-1" });
  assert.deepEqual(await answered, { id: "m-2", reply: { n: 2 } });
  assert.deepEqual(client.of("reply").map(({ id }) => id), ["m-1", "m-2"]);
  assert.equal(client.unanswered, 0);
  assert.deepEqual(server.order, [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(client.limits, LIMITS);
});

test("waits in line with a countdown, and is admitted at its first return", async () => {
  const { clock, client, server } = await opened({ random: () => 0.99 });
  server.tokens = 0;
  const clients = Array.from({ length: 13 }, () => clientOf(server));
  await clock.advance(1000);
  const last = clients.at(-1);
  assert.equal(last.state, "waiting");
  const [first] = last.of("waiting");
  assert.equal(first.reason, "TENANT_RATE");
  assert.equal(first.ahead, 12);
  assert.equal(first.retryAfterSeconds, 26);
  assert.ok(Math.abs(first.retryAt - clock.date() - 26_000) < 1500, "shown by the clock of this machine");

  await clock.advance(13_000);
  const middle = last.of("waiting").at(-1);
  assert.ok(middle.ahead === 6 || middle.ahead === 7, `${middle.ahead} ahead after half of the time`);
  await clock.advance(MINUTE);

  for (const each of clients) {
    assert.equal(each.state, "open");
    assert.deepEqual(each.states(), ["waiting", "connecting", "open"], "refused once");
    const seconds = each.of("waiting").map(({ retryAfterSeconds }) => retryAfterSeconds);
    assert.deepEqual(seconds, Array.from({ length: seconds.length }, (_, i) => seconds[0] - i), "each second is told once");
  }
  assert.equal(client.state, "open");
});

test("comes back at the slot although its time of day is five minutes wrong", async () => {
  for (const skewMillis of [-FIVE_MINUTES_FAST, FIVE_MINUTES_FAST]) {
    const clock = new ManualClock({ skewMillis });
    const server = new Server({ clock });
    server.tokens = 0;
    const client = clientOf(server);
    await clock.advance(10_000);
    assert.equal(client.state, "open");
    const [refused, admitted] = server.log.filter(({ what }) => what === "handshake");
    assert.equal(admitted.status, 101);
    assert.ok(admitted.at >= refused.slot && admitted.at < refused.slot + 1100, "at most a second after the slot");
  }
});

test("a refusal at the slot is no failure: the client comes back at the new time", async () => {
  const { clock, client, server } = await waiting();
  const [session] = server.sessions.values();
  session.slot += 1000;
  await clock.advance(5000);
  assert.equal(client.state, "open");
  assert.deepEqual(client.states(), ["waiting", "connecting", "waiting", "connecting", "open"]);
});

async function waiting(options) {
  const made = world(options);
  made.server.tokens = 0;
  const client = made.client();
  await made.clock.advance(100);
  assert.equal(client.state, "waiting");
  return { ...made, client };
}

test("a refusal with a reason ends a series of failures", async () => {
  const { clock, client, server } = world({ random: () => 0.99 });
  server.answer = () => [503, {}];
  const made = client();
  await clock.advance(2 * MINUTE);
  server.answer = undefined;
  server.tokens = 0;
  while (made.state !== "open") {
    await clock.advance(1000);
  }
  assert.ok(made.of("waiting").length > 0);
  server.tokens = 1;
  server.nextSlot = -Infinity;
  server.drop([...server.sockets][0]);
  await clock.advance(1100);
  assert.equal(made.state, "open");
});

test("without a place, clients that were told the same time come back spread", async () => {
  const times = await Promise.all([0, 0.5, 0.99].map(async (value) => {
    const { clock, client, server } = world({ random: () => value });
    server.answer = (method) => method === "GET"
      ? [200, { limits: LIMITS, admission: { admitted: false, reason: "SESSION_RATE", detail: "", retryAfterSeconds: 8 } }]
      : undefined;
    server.tokens = 0;
    client();
    await clock.advance(20_000);
    return server.log.filter(({ what }) => what === "handshake")[1].at;
  }));
  assert.ok(times[1] - times[0] > 3900 && times[2] - times[1] > 3800, `${times}`);
});

test("waits for a free connection by asking, and connects when one is free", async () => {
  const { clock, server, client: first } = await opened();
  server.limits.connectionsPerSession = 1;
  const second = clientOf(server, { sessionId: first.sessionId, newSession: false });
  await clock.advance(MINUTE);
  assert.equal(second.state, "waiting");
  assert.equal(second.of("waiting")[0].reason, "SESSION_CONNECTIONS");
  assert.equal(second.of("waiting")[0].retryAfterSeconds, undefined);
  assert.equal(server.count("handshake"), 2, "no further handshake");
  assert.ok(server.count("GET") >= 6 && server.count("GET") <= 14, `${server.count("GET")} requests in a minute`);
  await first.close();
  await clock.advance(11_000);
  assert.equal(second.state, "open");
});

test("goes on with a session that was kept: renews it, and keeps its place in line", async () => {
  const { clock, client, server } = await waiting();
  const slot = server.sessions.get(client.sessionId).slot;
  const { sessionId } = client;
  await client.close();
  const again = clientOf(server, { sessionId });
  await clock.advance(10_000);
  assert.equal(again.state, "open");
  assert.equal(again.sessionId, sessionId);
  assert.equal(again.of("session")[0].isNew, false);
  assert.equal(server.sessions.size, 1);
  const admitted = server.log.find(({ status }) => status === 101);
  assert.ok(admitted.at >= slot && admitted.at < slot + 1100);
});

test("after a drop it comes back with the same session and sends again what is unanswered", async () => {
  let drops = 1;
  const { clock, client, server } = await opened({ fault: (kind) => kind === "drop" && drops-- > 0 });
  const answers = [1, 2, 3].map((n) => client.send(n));
  await clock.advance(5000);
  assert.deepEqual(client.states().slice(-3), ["reconnecting", "connecting", "open"]);
  assert.match(client.of("state").find(({ state }) => state === "reconnecting").detail, /closed with code \d+/);
  assert.equal((await Promise.all(answers)).length, 3);
  assert.deepEqual(server.order, [1, 2, 3], "each once, in order");
  assert.equal(server.sessions.size, 1);
  assert.ok(server.count("frame") > 3, "at least one copy");
});

test("a message whose refusal was lost with the socket is sent again, however long the reconnection takes", async () => {
  let down = false;
  const { clock, client, server } = await opened({ fault: (kind) => down && kind === "handshake" });
  server.messageTokens = 0;
  await Promise.all([client.send("refused unseen"), clock.advance(50)]);
  down = true;
  [...server.sockets].forEach((socket) => server.drop(socket));
  await clock.advance(MINUTE);
  assert.equal(server.count("throttled"), 1);
  assert.deepEqual(client.of("refused"), [], "the client did not hear of it");
  assert.notEqual(client.state, "open");
  client.send("later");
  server.messageTokens = 10;
  down = false;
  await clock.advance(MINUTE);
  assert.deepEqual(server.order, ["refused unseen", "later"]);
  assert.equal(client.unanswered, 0);
});

test("a message that waits for a reply which was lost fails after its time", async () => {
  const { clock, client, server } = await opened();
  const answer = outcome(client.send(1, { reply: true }));
  await clock.advance(35);
  server.replies = false;
  await clock.advance(3 * MINUTE);
  assert.equal((await answer).code, "UNANSWERED");
  assert.deepEqual(server.order, [1]);
  assert.equal(client.unanswered, 0);
});

test("a throttled message is sent again after the time it was told; nothing else is sent meanwhile", async () => {
  const { clock, client, server } = await opened();
  server.messageTokens = 0;
  const answer = client.send("late", { reply: true });
  await clock.advance(200);
  const [refused] = client.of("refused");
  assert.equal(refused.code, "THROTTLED");
  assert.equal(refused.final, false);
  client.send("behind");
  await clock.advance(6500);
  assert.equal(server.count("frame"), 1);
  server.messageTokens = 10;
  await clock.advance(1000);
  assert.equal((await answer).reply, "late");
  assert.deepEqual(server.order, ["late", "behind"]);
});

test("each throttled message is sent again at its own time, whatever later ones were told", async () => {
  const { clock, client, server } = await opened();
  const told = { "m-1": 2, "m-2": 22, "m-3": 42, "m-4": 62 };
  const sentAt = {};
  server.receive = (socket, text) => {
    const { id } = JSON.parse(text);
    socket.receive({ type: "accepted", id });
    if (id in told && !(id in sentAt)) {
      socket.receive({ type: "error", id, code: "THROTTLED", detail: "over", retryAfterSeconds: told[id] });
    }
    (sentAt[id] ??= []).push(clock.now());
  };
  const start = clock.now();
  const answers = Object.keys(told).map((id) => outcome(client.send(1, { id, reply: true })));
  answers.push(outcome(client.send(1, { id: "behind", reply: true })));
  await clock.advance(MINUTE);

  const seconds = (id) => sentAt[id].map((at) => Math.round((at - start) / 1000));
  assert.deepEqual(["m-1", "m-2", "m-3"].map(seconds), [[0, 2], [0, 22], [0, 42]]);
  assert.deepEqual(seconds("m-4"), [0]);
  assert.equal((await answers[3]).code, "THROTTLED");
});

test("a message that was not throttled waits for those that were", async () => {
  const { clock, client, server } = await opened();
  server.messageTokens = 0;
  client.send("first");
  await clock.advance(5000);
  client.send("second");
  await clock.advance(1000);
  assert.deepEqual(server.order, []);
  assert.equal(server.count("frame"), 1);
  server.messageTokens = 10;
  await clock.advance(2000);
  assert.deepEqual(server.order, ["first", "second"]);
});

test("a message that is throttled until its time is over fails with THROTTLED", async () => {
  const { clock, client, server } = await opened({}, { timeout: 20 });
  server.messageTokens = 0;
  const answer = outcome(client.send(1, { reply: true }));
  await clock.advance(MINUTE);
  const { code, error } = await answer;
  assert.equal(code, "THROTTLED");
  assert.equal(error.retryAfterSeconds, 7);
  assert.equal(server.count("throttled"), 3);
  assert.equal(client.of("refused").at(-1).final, true);
  assert.equal(client.unanswered, 0);
});

test("a flood of throttled messages never has more than 32 under way", async () => {
  const { clock, client, server } = await opened();
  server.messageTokens = 0;
  const answers = Array.from({ length: 200 }, (_, n) => client.send(n));
  await clock.advance(6000);
  assert.equal(server.count("throttled"), 32);
  server.messageTokens = Infinity;
  await clock.advance(MINUTE);
  await Promise.all(answers);
  assert.equal(new Set(server.order).size, 200);
  assert.equal(server.order.length, 200);
});

test("what is unavailable is sent again with the same id", async () => {
  let failures = 2;
  const { clock, client, server } = await opened({ fault: (kind) => kind === "unavailable" && failures-- > 0 });
  const answer = client.send("x", { reply: true });
  await clock.advance(10_000);
  assert.equal((await answer).reply, "x");
  assert.deepEqual(server.order, ["x"]);
});

test("an outage that is told for each of 32 messages is one failure", async () => {
  let down = true;
  const { clock, client, server } = await opened({ fault: (kind) => down && kind === "unavailable" });
  const answers = Array.from({ length: 40 }, (_, n) => client.send(n));
  await clock.advance(50);
  down = false;
  await clock.advance(3000);
  assert.equal((await Promise.all(answers)).length, 40);
  assert.deepEqual(server.order, Array.from({ length: 40 }, (_, n) => n), "in order");
});

test("a reply may come later than the last copy may be sent, on another socket too", async () => {
  const { clock, client, server } = await opened({}, { timeout: 600 });
  server.receive = (socket, text) => socket.receive({ type: "accepted", id: JSON.parse(text).id });
  const answer = client.send(1, { id: "m-1", reply: true });
  await clock.advance(5 * MINUTE);
  server.drop([...server.sockets][0]);
  await clock.advance(5000);
  [...server.sockets][0].receive({ type: "reply", id: "m-1", message: "late" });
  await clock.advance(1000);
  assert.deepEqual(await answer, { id: "m-1", reply: "late" });
});

test("a push is an event of its own, and no answer to a message of the same id", async () => {
  const { clock, client, server } = await opened();
  server.receive = (socket, text) => socket.receive({ type: "accepted", id: JSON.parse(text).id });
  const answer = client.send(1, { id: "m-1", reply: true });
  await clock.advance(100);
  const [socket] = server.sockets;
  socket.receive({ type: "push", id: "m-1", message: { shipped: true } });
  socket.receive({ type: "push", id: "p-2", message: null });
  await clock.advance(100);
  assert.deepEqual(client.of("push").map(({ id, message }) => [id, message]), [["m-1", { shipped: true }], ["p-2", null]]);
  assert.deepEqual([client.of("reply"), client.of("refused")], [[], []]);
  socket.receive({ type: "reply", id: "m-1", message: 2 });
  await clock.advance(100);
  assert.deepEqual(await answer, { id: "m-1", reply: 2 });
});

test("messages that cannot be processed fail, and say why", async () => {
  const { clock, client, server } = await opened({}, { queueLimit: 40 });
  const silo = outcome(client.send(1, { action: "SiloSQS" }));
  await clock.advance(100);
  assert.equal((await silo).code, "NOT_SILO");
  assert.equal((await outcome(client.send("€".repeat(11_000)))).code, "TOO_BIG");
  assert.equal((await outcome(client.send(undefined))).code, "BAD_FRAME");
  const twice = client.send(1, { id: "same" });
  assert.equal((await outcome(client.send(2, { id: "same" }))).code, "BAD_FRAME");
  await clock.advance(100);
  await twice;
  server.receive = (socket, text) => socket.receive({ type: "error", id: JSON.parse(text).id, code: "SUSPENDED", detail: "no" });
  const suspended = outcome(client.send(1));
  await clock.advance(100);
  assert.equal((await suspended).code, "SUSPENDED");
  server.receive = () => {};
  const all = Array.from({ length: 80 }, (_, n) => outcome(client.send(n)));
  assert.equal((await all[79]).code, "QUEUE_FULL");
  await client.close();
  assert.equal((await all[0]).code, "CLOSED");
  assert.equal((await outcome(client.send(1))).code, "CLOSED");
});

test("a message of 32 KB is sent, and one byte more is not", async () => {
  const { clock, client } = await opened();
  const envelope = JSON.stringify({ action: "PooledSQS", id: "a", message: "" }).length;
  const fits = client.send("x".repeat(32 * 1024 - envelope), { id: "a" });
  assert.equal((await outcome(client.send("x".repeat(32 * 1024 - envelope + 1), { id: "b" }))).code, "TOO_BIG");
  await clock.advance(100);
  assert.deepEqual(await fits, { id: "a" });
});

test("when the server closes for a message that is too big, the biggest one fails and is not sent again", async () => {
  const { clock, client, server } = await opened();
  server.receive = (socket) => {
    delete server.receive;
    server.drop(socket, 1009);
  };
  const answers = ["before", "a big one", "after"].map((message) => outcome(client.send(message)));
  await clock.advance(5000);
  assert.deepEqual((await Promise.all(answers)).map(({ code }) => code), [undefined, "TOO_BIG", undefined]);
  assert.equal(client.state, "open");
  assert.deepEqual(server.order, ["before", "after"]);
});

test("a session that is over is replaced; what was never sent goes to the new one", async () => {
  const { clock, client, server } = await opened();
  const before = client.sessionId;
  server.replies = false;
  const sent = outcome(client.send("sent", { reply: true }));
  await clock.advance(100);
  server.end(server.sessions.get(before));
  await clock.advance(0);
  assert.notEqual(client.state, "open");
  const unsent = client.send("unsent");
  await clock.advance(5000);
  assert.equal(client.state, "open");
  assert.notEqual(client.sessionId, before);
  assert.equal((await sent).code, "SESSION_ENDED");
  await unsent;
  assert.deepEqual(client.of("session").map(({ isNew }) => isNew), [true, true]);
});

test("a shared session that is over closes the client", async () => {
  const { clock, client, server } = await opened({}, { newSession: false });
  server.end(server.sessions.get(client.sessionId));
  await clock.advance(1000);
  assert.equal(client.state, "closed");
  assert.equal(client.of("state").at(-1).reason, "session-ended");
  assert.equal(clock.timers, 0);
});

test("closed with 1000 for another reason, it backs off for a second at least", async () => {
  const { clock, client, server } = await opened({ random: () => 0 });
  server.drop([...server.sockets][0], 1000);
  await clock.advance(900);
  assert.equal(client.state, "reconnecting");
  await clock.advance(500);
  assert.equal(client.state, "open");
});

for (const [name, answer, reason] of [
  ["an unknown tenant", [404, { type: "urn:tollgate:problem:not-found" }], "unknown-tenant"],
  ["a suspended tenant", [403, { type: "urn:tollgate:problem:suspended" }], "suspended"],
  ["another tenant's token", [403, { type: "urn:tollgate:problem:not-your-tenant" }], "forbidden"],
  ["a request that must be signed", [403, { message: "Forbidden" }], "forbidden"],
  ["an invalid value", [400, {}], "invalid"],
  ["no token", [401, { message: "Unauthorized" }], "unauthorized"],
]) {
  test(`${name} closes the client: ${reason}`, async () => {
    const { clock, client, server } = world();
    server.answer = () => answer;
    const made = client();
    const lost = outcome(made.send(1));
    await clock.advance(MINUTE);
    assert.equal(made.state, "closed");
    assert.equal(made.of("state").at(-1).reason, reason);
    assert.equal(server.count("PUT"), 1);
    assert.equal((await lost).code, "CLOSED");
    await assert.rejects(made.send(2), { code: "CLOSED", message: `The client is closed. ${made.of("state").at(-1).detail}` });
    assert.equal(clock.timers, 0);
  });
}

test("a tenant that is suspended while its client is connected closes it", async () => {
  const { clock, client, server } = await opened();
  server.suspended = true;
  server.drop([...server.sockets][0], 1000);
  await clock.advance(MINUTE);
  assert.equal(client.state, "closed");
  assert.equal(client.of("state").at(-1).reason, "suspended");
});

test("a path that has no session API closes the client, and is named", async () => {
  const { clock, client, server } = world();
  let accept;
  server.answer = (method, query, headers) => {
    accept = headers.accept;
    return [404, { message: "Not Found" }];
  };
  const made = client();
  await clock.advance(1000);
  const { reason, detail } = made.of("state").at(-1);
  assert.equal(reason, "invalid");
  assert.equal(detail, "There is no Tollgate session API at http://server/session.");
  assert.match(accept, /application\/problem\+json/);
});

test("a token function that does not settle is asked again after 30 s", async () => {
  const { clock, client } = world();
  let asked = 0;
  const made = client({ token: () => (asked++ === 0 ? new Promise(() => {}) : "token") });
  await clock.advance(35_000);
  assert.equal(made.state, "open");
});

test("close() settles, and leaves no timer, although a token function does not settle", async () => {
  for (const settles of [0, 3]) {
    const { clock, client } = world();
    let asked = 0;
    const made = client({ token: () => (asked++ < settles ? "token" : new Promise(() => {})) });
    await clock.advance(1000);
    let closed = false;
    made.close({ endSession: true }).then(() => {
      closed = true;
    });
    await clock.advance(5_100);
    assert.ok(closed, `after ${settles} tokens`);
    assert.equal(clock.timers, 0);
  }
});

test("a token is asked for anew before each request, and once more after a 401", async () => {
  let asked = 0;
  const { clock, client, server } = world();
  server.answer = (method, query, { authorization }) =>
    authorization === "Bearer token-1" ? [401, { message: "Unauthorized" }] : undefined;
  const made = client({ token: async () => `token-${++asked}` });
  await clock.advance(1000);
  assert.equal(made.state, "open");
  assert.equal(asked, 3, "PUT twice, GET once");
});

test("nobody answers: the attempts come at longer and longer intervals, for ever", async () => {
  const { clock, client, server } = world();
  server.answer = () => [503, { message: "Service Unavailable" }];
  const made = client();
  await clock.advance(60 * MINUTE);
  assert.equal(made.state, "reconnecting");
  const times = server.log.map(({ at }) => at);
  const waits = times.slice(1).map((at, i) => at - times[i]);
  assert.ok(waits[0] < 1100 && Math.max(...waits) > 20_000 && Math.max(...waits) < 30_100);
  // With full jitter the mean is 15 s, once the cap is reached.
  assert.ok(times.length > 180 && times.length < 330, `${times.length} attempts in an hour`);
  server.answer = undefined;
  await clock.advance(MINUTE);
  assert.equal(made.state, "open");
});

test("Retry-After of a refused request is obeyed", async () => {
  const { clock, client, server } = world();
  server.answer = () => [429, {}, { "retry-after": "20" }];
  client();
  await clock.advance(19_000);
  assert.equal(server.count("PUT"), 1);
  await clock.advance(12_000);
  assert.equal(server.count("PUT"), 2);
});

test("a socket that is closed soon after it opened counts as a failure", async () => {
  const { clock, client, server } = await opened({ random: () => 0.99 });
  for (let i = 0; i < 4 * 60; i++) {
    [...server.sockets].forEach((socket) => server.drop(socket));
    await clock.advance(1000);
  }
  assert.ok(server.count("handshake") <= 13, `${server.count("handshake")} handshakes in four minutes`);
  await clock.advance(MINUTE);
  assert.equal(client.state, "open");
});

test("after ten seconds with an open socket, the next attempt comes within a second", async () => {
  const { clock, client, server } = await opened({ random: () => 0.99 });
  for (let i = 0; i < 10; i++) {
    await clock.advance(11_000);
    [...server.sockets].forEach((socket) => server.drop(socket));
    await clock.advance(1100);
    assert.equal(client.state, "open");
  }
});

test("a quiet client renews its session every half of its time", async () => {
  const { clock, client, server } = await opened();
  await clock.advance(30 * MINUTE);
  assert.equal(client.state, "open");
  assert.equal(server.sessions.size, 1);
  assert.equal(server.count("PUT"), 1 + 12);
  assert.equal(server.count("handshake"), 1);
});

test("renewals that fail are repeated before the session ends", async () => {
  const { clock, client, server } = await opened();
  let failing = true;
  server.answer = (method) => (method === "PUT" && failing ? [503, {}] : undefined);
  await clock.advance(4 * MINUTE);
  failing = false;
  await clock.advance(10 * MINUTE);
  assert.equal(server.sessions.size, 1);
  assert.equal(server.count("handshake"), 1);
  assert.equal(client.state, "open");
});

test("heartbeats keep a quiet socket open; when none is answered, the client reconnects", async () => {
  const { clock, client, server } = await opened();
  await clock.advance(11 * MINUTE);
  assert.equal(server.count("heartbeat"), 2);
  assert.deepEqual(client.of("refused"), [], "the answer to a heartbeat is no refusal");
  server.silent = true;
  await clock.advance(5 * MINUTE);
  server.silent = false;
  await clock.advance(MINUTE);
  assert.deepEqual(client.states(), ["open", "reconnecting", "connecting", "open"]);
});

test("a message to which nobody answers makes the client reconnect", async () => {
  const { clock, client, server } = await opened();
  server.silent = true;
  const answer = client.send(1);
  await clock.advance(9_900);
  assert.equal(client.state, "open");
  server.silent = false;
  await clock.advance(5000);
  assert.equal(client.state, "open");
  assert.equal(server.count("handshake"), 2);
  await answer;
});

test("a connection that loses what the server sends is replaced within 21 s while a reply is due", async () => {
  const { clock, client, server } = await opened();
  const [first] = server.sockets;
  const answer = outcome(client.send(1, { reply: true }));
  await clock.advance(35);
  first.receive = () => {};
  await clock.advance(21_000);
  assert.equal(client.state, "open");
  assert.equal(server.count("handshake"), 2);
  await clock.advance(40_000);
  assert.equal((await answer).code, "UNANSWERED", "a reply that was lost does not come again");
  assert.deepEqual(server.order, [1]);
});

test("300 messages, one after another, take at most 72 s while replies are lost for 40 s", async () => {
  const { clock, client, server } = world({ latency: () => 5 });
  server.tokens = 100;
  const made = client({
    WebSocket: class extends server.WebSocket {
      #openedAt = clock.now();

      receive(frame) {
        if (clock.now() > 60_000 || clock.now() < this.#openedAt + 1000) {
          super.receive(frame);
        }
      }
    },
  });
  let settled = 0;
  (async () => {
    for (let n = 0; n < 300; n++) {
      await outcome(made.send(n, { reply: true }));
      settled++;
    }
  })();
  await clock.advance(72_000);
  assert.equal(settled, 300);
  assert.deepEqual(server.order, Array.from({ length: 300 }, (_, n) => n), "each once, and in order");
});

test("a socket whose server does not answer the close frame is terminated after 5 s", async () => {
  let terminated = 0;
  const { clock, client, server } = world();
  const made = client({
    WebSocket: class extends server.WebSocket {
      close() {}

      terminate() {
        terminated++;
        super.close(1000);
      }
    },
  });
  await clock.advance(1000);
  await made.close();
  await clock.advance(4_900);
  assert.equal(terminated, 0);
  await clock.advance(200);
  assert.equal(terminated, 1);
  assert.equal(clock.timers, 0);
});

test("a socket is replaced before its two hours are over, and nothing is missed", async () => {
  const { clock, client, server } = await opened();
  for (let minute = 0; minute < 300; minute++) {
    client.send(minute);
    await clock.advance(MINUTE);
    assert.equal(client.state, "open");
  }
  assert.deepEqual(client.states(), ["open"]);
  assert.equal(server.order.length, 300);
  const handshakes = server.log.filter(({ what }) => what === "handshake").map(({ at }) => at);
  assert.equal(handshakes.length, 3 + (handshakes.length > 3));
  const ages = handshakes.slice(1).map((at, i) => (at - handshakes[i]) / MINUTE);
  assert.ok(ages.every((age) => age >= 90 && age <= 110), `${ages}`);
  assert.equal(server.sockets.size, 1);
});

test("a socket whose replacement is refused stays in use, and the replacement comes at its slot", async () => {
  const { clock, client, server } = await opened();
  server.tokens = 0;
  await clock.advance(115 * MINUTE);
  assert.deepEqual(client.states(), ["open"]);
  assert.deepEqual(server.log.filter(({ what }) => what === "handshake").map(({ status }) => status), [101, 429, 101]);
  assert.equal(server.sockets.size, 1);
});

test("close() ends everything, whatever was going on", async () => {
  for (let millis = 0; millis < 200; millis += 5) {
    const { clock, client, server } = world();
    server.tokens = millis % 2;
    const made = client();
    const answer = outcome(made.send(1, { reply: true }));
    await clock.advance(millis);
    await made.close();
    await clock.advance(0);
    assert.equal(made.state, "closed");
    assert.ok(["CLOSED", undefined].includes((await answer).code));
    const before = server.log.length;
    await clock.advance(40_000);
    assert.equal(server.sockets.size, 0);
    assert.equal(clock.timers, 0);
    assert.ok(server.log.length <= before + 2, "only what was under way");
    assert.equal(made.state, "closed");
  }
});

test("close() can end the session", async () => {
  const { clock, client, server } = await opened();
  const closed = client.close({ endSession: true });
  await clock.advance(1000);
  await closed;
  assert.equal(server.sessions.size, 0);
});

test("a listener may close the client in any event", async () => {
  for (const type of ["state", "waiting", "session"]) {
    const { clock, client, server } = world();
    server.tokens = 0;
    const made = client();
    made.addEventListener(type, () => made.close());
    await clock.advance(MINUTE);
    assert.equal(made.state, "closed");
    assert.equal(clock.timers, 0);
    assert.ok(server.count("handshake") <= 1);
  }
});

test("options that cannot work are refused at once", () => {
  const { client } = world();
  assert.throws(() => client({ tenantId: "" }), /tenantId/);
  assert.throws(() => client({ sessionUrl: undefined }), /sessionUrl/);
  assert.throws(() => client({ WebSocket: undefined }), /WebSocket/);
});

test("with a session of a back end it sends no HTTP request", async () => {
  const { clock, client, server } = await opened();
  const other = clientOf(server, {
    sessionUrl: undefined, sessionId: client.sessionId, webSocketUrl: "ws://server/production",
    fetch: () => assert.fail("a request"),
  });
  await clock.advance(1000);
  assert.equal(other.state, "open");
});

test("a refusal that overtakes the acceptance of its message is not undone by it", async () => {
  const { clock, client, server } = await opened();
  let copies = 0;
  server.receive = (socket, text) => {
    const { id } = JSON.parse(text);
    if (++copies === 1) {
      socket.receive({ type: "error", id, code: "THROTTLED", detail: "over", retryAfterSeconds: 7 });
    }
    socket.receive({ type: "accepted", id });
  };
  const sent = client.send(1, { id: "m-1" });
  await clock.advance(6000);
  assert.equal(copies, 1);
  await clock.advance(2000);
  assert.deepEqual(await sent, { id: "m-1" });
  assert.equal(copies, 2);
});

test("a client that is closed by a listener of `refused` stays closed, and tells each message once", async () => {
  for (const code of [1009, 1000]) {
    const { clock, client, server } = await opened();
    client.addEventListener("refused", () => client.close());
    server.silent = true;
    for (const id of ["m-1", "m-2", "m-3"]) {
      client.send(1, { id });
    }
    await clock.advance(100);
    if (code === 1009) {
      server.drop([...server.sockets][0], 1009);
    } else {
      server.end(server.sessions.get(client.sessionId));
    }
    await clock.advance(MINUTE);
    assert.equal(client.state, "closed");
    assert.equal(client.states().at(-1), "closed");
    assert.equal(server.sockets.size, 0);
    assert.equal(clock.timers, 0);
    assert.deepEqual(client.of("refused").map(({ id }) => id).sort(), ["m-1", "m-2", "m-3"]);
  }
});

test("a client that is closed when it begins to wait tells no wait", async () => {
  const { clock, client, server } = world();
  server.tokens = 0;
  const made = client();
  made.addEventListener("state", ({ detail }) => detail.state === "waiting" && made.close());
  await clock.advance(MINUTE);
  assert.deepEqual(made.events.map(({ type }) => type), ["session", "state", "state"]);
});

test("an answer that is not one of a session API counts as none", async () => {
  const page = () => new Response("<html>", { headers: { "content-type": "text/html" } });
  const json = (text) => () => new Response(text, { headers: { "content-type": "application/json" } });
  for (const method of ["PUT", "GET"]) {
    for (const answer of [page, json("{}"), json("null"), json("{")]) {
      const { clock, client, server } = world();
      server.tokens = 0;
      let strange = 3;
      const made = client({
        fetch: (url, options) =>
          options.method === method && strange-- > 0 ? Promise.resolve(answer()) : server.fetch(url, options),
      });
      await clock.advance(2 * MINUTE);
      assert.equal(made.state, "open", `${method} ${answer}`);
      await made.close();
    }
  }
});

test("a socket that cannot be made, and a frame that is no object, do no harm", async () => {
  const { clock, client, server } = world();
  let made = 0;
  const one = client({
    WebSocket: class extends server.WebSocket {
      constructor(url) {
        if (made++ === 0) {
          throw new Error("SecurityError");
        }
        super(url);
      }
    },
  });
  await clock.advance(5000);
  assert.equal(one.state, "open");
  [...server.sockets][0].receive(null);
  await clock.advance(100);
  assert.equal(one.state, "open");
});

test("clients that were told the same Retry-After come back spread", async () => {
  const { clock, client, server } = world();
  const at = [];
  server.answer = (method) => {
    at.push(Math.round(clock.now()));
    return [503, {}, { "retry-after": "1" }];
  };
  const clients = Array.from({ length: 100 }, () => client());
  await clock.advance(500);
  at.length = 0;
  await clock.advance(1600);
  clients.forEach((each) => each.close());
  assert.ok(new Set(at).size > 50, `${new Set(at).size} instants`);
});

test("limits that cannot be asked for at first are asked for again, and the session is renewed", async () => {
  const { clock, client, server } = world();
  let failing = 3;
  server.answer = (method) => (method === "GET" && failing-- > 0 ? [503, {}] : undefined);
  const made = client();
  await clock.advance(30 * MINUTE);
  assert.deepEqual(made.states(), ["open"]);
  assert.equal(server.sessions.size, 1);
  assert.equal(server.count("GET"), 4);
  assert.deepEqual(made.limits, LIMITS);
});

test("a socket that is lost ends the questions for limits", async () => {
  const { clock, client, server } = world({ random: () => 0.99 });
  server.answer = (method) => (method === "GET" ? [503, {}, { "retry-after": "60" }] : undefined);
  const made = client();
  await clock.advance(1000);
  assert.equal(server.count("GET"), 1);
  server.tokens = Infinity;
  server.drop([...server.sockets][0]);
  await clock.advance(5000);
  assert.equal(made.state, "open");
  assert.equal(server.count("GET"), 2);
  await clock.advance(MINUTE + 6000);
  assert.equal(server.count("GET"), 3, "one series of questions");
});

test("close() ends a session that is being created", async () => {
  for (let millis = 0; millis < 400; millis += 20) {
    const { clock, client, server } = world({ latency: () => 100 });
    const made = client();
    await clock.advance(millis);
    const closed = made.close({ endSession: true });
    await clock.advance(5000);
    await closed;
    assert.equal(server.sessions.size, 0, `closed after ${millis} ms`);
    assert.equal(server.sockets.size, 0);
    assert.equal(clock.timers, 0);
  }
});

test("close() gives up the request that is under way, and sends no other", async () => {
  for (const method of ["PUT", "GET"]) {
    const { clock, client, server } = world();
    let given;
    server.tokens = 0;
    const made = client({
      fetch: (url, options) => {
        if (options.method !== method) {
          return server.fetch(url, options);
        }
        given = options.signal;
        return new Promise((resolve, reject) => given.addEventListener("abort", () => reject(given.reason)));
      },
    });
    await clock.advance(1000);
    assert.equal(given.aborted, false);
    await made.close();
    assert.equal(given.aborted, true, method);
    await clock.advance(100);
    assert.equal(clock.timers, 0);
  }
  const { clock, client } = world();
  let tell;
  let requests = 0;
  const made = client({
    fetch: () => {
      requests++;
      return Promise.reject(new TypeError("network"));
    },
    token: () => new Promise((resolve) => {
      tell = resolve;
    }),
  });
  await clock.advance(100);
  await made.close();
  tell("late");
  await clock.advance(100);
  assert.equal(requests, 0);
  assert.equal(clock.timers, 0);
});

test("closed with 1000 while others wait in line, it takes a place of its own, and waits no other time", async () => {
  const { clock, client, server } = await opened({ random: () => 0 });
  server.tokens = 0;
  Array.from({ length: 10 }, () => clientOf(server));
  await clock.advance(1000);
  server.log.length = 0;
  server.drop([...server.sockets].find(({ session }) => session.sessionId === client.sessionId), 1000);
  await clock.advance(500);
  assert.equal(client.state, "reconnecting");
  await clock.advance(1000);
  assert.equal(client.state, "waiting");
  assert.equal(client.of("waiting")[0].ahead, 9);
  await clock.advance(MINUTE);
  assert.equal(client.state, "open");
  const shaken = server.log.filter(({ what, sessionId }) => what === "handshake" && sessionId === client.sessionId);
  assert.deepEqual(shaken.map(({ status }) => status), [429, 101]);
});

test("a message that was accepted and ends unanswered has an unknown fate, and one that was never sent has not", async () => {
  const { clock, client, server } = await opened();
  server.replies = false;
  await Promise.all([client.send(1, { id: "accepted" }), clock.advance(1000)]);
  [...server.sockets].forEach((socket) => server.drop(socket));
  await clock.advance(0);
  const unsent = outcome(client.send(2, { id: "unsent" }));
  await client.close();
  assert.equal((await unsent).error.unknown, false);
  assert.deepEqual(client.of("refused").map(({ id, code, final, unknown }) => ({ id, code, final, unknown })), [
    { id: "accepted", code: "CLOSED", final: true, unknown: true },
    { id: "unsent", code: "CLOSED", final: true, unknown: false },
  ]);
});

test("an id that the server does not take is refused at once", async () => {
  const { clock, client, server } = await opened();
  for (const id of ["", "a b", "ü", "a".repeat(65), "a\n", 7]) {
    assert.equal((await outcome(client.send(1, { id }))).code, "BAD_FRAME");
  }
  const sent = client.send(1, { id: "a".repeat(64) });
  await clock.advance(1000);
  await sent;
  assert.equal(server.count("frame"), 1);
});

test("THROTTLED lets the time begin anew only if no other copy was sent", async () => {
  for (const copies of [1, 2]) {
    const { clock, client, server } = await opened({}, { timeout: 600 });
    server.messageTokens = 0;
    if (copies === 2) {
      server.receive = (socket) => server.drop(socket);
    }
    const sent = outcome(client.send(1, { id: "m-1", reply: true }));
    await clock.advance(50);
    delete server.receive;
    await clock.advance(5 * MINUTE);
    assert.equal(client.unanswered, 2 - copies);
    if (copies === 2) {
      const { code, error } = await sent;
      assert.match(code, /^(THROTTLED|UNANSWERED)$/);
      assert.equal(error.unknown, true);
    }
  }
});
