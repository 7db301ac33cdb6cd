import assert from "node:assert/strict";
import { test } from "node:test";
import { Store, inOrder } from "../pages/store.js";

/** A store on a clock that the test moves. */
class World {
  time = 0;
  timers = new Map();
  next = 1;

  constructor() {
    this.store = new Store({
      onchange: () => {},
      now: () => this.time,
      after: (run, ms) => { this.timers.set(this.next, { run, at: this.time + ms }); return this.next++; },
      cancel: (timer) => this.timers.delete(timer),
    });
  }

  /** Moves the clock, and lets each timer and its promises run at its time. */
  async pass(ms) {
    const end = this.time + ms;
    await settled();
    for (;;) {
      const [due] = [...this.timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
      if (!due) {
        break;
      }
      this.timers.delete(due[0]);
      this.time = due[1].at;
      due[1].run();
      await settled();
    }
    this.time = end;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const counting = (key, everyMs) => {
  const task = { key, everyMs, asked: 0, load: async () => ++task.asked };
  return task;
};

test("a task is loaded at once and then each time of its poll", async () => {
  const it = new World();
  const task = counting("a", 2_000);
  it.store.need([task]);
  await it.pass(4_500);
  assert.equal(task.asked, 3);
  assert.equal(it.store.value("a"), 3);
});

test("tasks that are no longer needed are not loaded, and their answers are kept", async () => {
  const world = new World();
  const [one, other] = [counting("one", 1_000), counting("other", 1_000)];
  world.store.need([one]);
  await world.pass(1_500);
  world.store.need([other]);
  await world.pass(5_000);
  assert.equal(one.asked, 2);
  assert.equal(world.store.value("one"), 2);
});

test("a task that two views need keeps its time", async () => {
  const world = new World();
  const task = counting("a", 10_000);
  world.store.need([task]);
  await world.pass(6_000);
  world.store.need([task, counting("b", 1_000)]);
  await world.pass(3_000);
  assert.equal(task.asked, 1);
  await world.pass(2_000);
  assert.equal(task.asked, 2);
});

test("an answer of a view that was open just before is not asked for again at once", async () => {
  const world = new World();
  const task = counting("a", 60_000);
  world.store.need([task]);
  await world.pass(1_000);
  world.store.need([]);
  await world.pass(1_000);
  world.store.need([task]);
  await world.pass(1_000);
  assert.equal(task.asked, 1);
});

test("while it is paused, nothing is asked; what is due follows at once", async () => {
  const world = new World();
  const task = counting("a", 2_000);
  world.store.need([task]);
  await world.pass(1_000);
  world.store.pause();
  await world.pass(60_000);
  assert.equal(task.asked, 1);
  world.store.resume();
  await world.pass(0);
  assert.equal(task.asked, 2);
});

test("a failure is known at once, keeps the last answer, and goes with the next one", async () => {
  const world = new World();
  let failing = false;
  const task = { key: "a", everyMs: 60_000, load: async () => { if (failing) { throw new Error("no"); } return "answer"; } };
  world.store.need([task]);
  await world.pass(1);
  failing = true;
  world.store.refresh("a");
  await world.pass(1);
  assert.deepEqual(world.store.failures.map(({ message }) => message), ["no"]);
  assert.equal(world.store.value("a"), "answer");
  failing = false;
  await world.pass(5_000);
  assert.deepEqual(world.store.failures, []);
});

test("the age turns amber after ten seconds and red after thirty, also while requests hang", async () => {
  const world = new World();
  let hang = false;
  world.store.need([{ key: "a", everyMs: 2_000, load: () => (hang ? new Promise(() => {}) : Promise.resolve(1)) }]);
  await world.pass(1);
  hang = true;
  await world.pass(9_000);
  assert.deepEqual(world.store.freshness, { seconds: 9, level: "good" });
  await world.pass(2_000);
  assert.equal(world.store.freshness.level, "amber");
  await world.pass(20_000);
  assert.deepEqual(world.store.freshness, { seconds: 31, level: "red" });
});

test("a slow poll is not late before its time", async () => {
  const world = new World();
  world.store.need([counting("slow", 60_000)]);
  await world.pass(59_000);
  assert.equal(world.store.freshness.level, "good");
});

test("a first request that hangs turns amber, too", async () => {
  const world = new World();
  world.store.need([{ key: "a", everyMs: 2_000, load: () => new Promise(() => {}) }]);
  await world.pass(12_000);
  assert.deepEqual(world.store.freshness, { seconds: undefined, level: "amber" });
});

test("parts are shown before the whole answer", async () => {
  const world = new World();
  let finish;
  world.store.need([{ key: "a", everyMs: 1_000, load: (publish) => { publish("part"); return new Promise((resolve) => { finish = resolve; }); } }]);
  await world.pass(1);
  assert.equal(world.store.value("a"), "part");
  assert.equal(world.store.at("a"), undefined);
  finish("whole");
  await world.pass(1);
  assert.equal(world.store.value("a"), "whole");
});

test("a refresh during a request asks once more after it", async () => {
  const world = new World();
  let asked = 0;
  const finish = [];
  world.store.need([{ key: "a", everyMs: 60_000, load: () => { asked++; return new Promise((resolve) => finish.push(resolve)); } }]);
  await world.pass(1);
  world.store.refresh("a");
  assert.equal(asked, 1);
  finish[0]("before the change");
  await world.pass(1);
  assert.equal(asked, 2);
});

test("a view that is left and opened again waits for its request instead of making another", async () => {
  const world = new World();
  const finish = [];
  const task = { key: "a", everyMs: 2_000, load: () => new Promise((resolve) => finish.push(resolve)) };
  for (let i = 0; i < 5; i++) {
    world.store.need([task]);
    await world.pass(100);
    world.store.need([]);
    await world.pass(11 * 60_000);
  }
  world.store.need([task]);
  await world.pass(100);
  assert.equal(finish.length, 1);
  finish[0]("one");
  await world.pass(2_000);
  assert.equal(world.store.value("a"), "one");
  assert.equal(finish.length, 2);
});

/** The times of the attempts of a task that fails, except for one. */
async function attempts(everyMs, ms, failure = {}, good = -1) {
  const world = new World();
  const times = [];
  world.store.need([{ key: "a", everyMs, load: async () => {
    times.push(world.time / 1000);
    if (times.length - 1 !== good) {
      throw Object.assign(new Error("no"), failure);
    }
  } }]);
  await world.pass(ms);
  return times;
}

test("after failures, the attempts get rarer until they are as rare as the polls", async () => {
  assert.deepEqual(await attempts(60_000, 200_000), [0, 5, 15, 35, 75, 135, 195]);
  assert.deepEqual(await attempts(60_000, 100_000, {}, 2), [0, 5, 15, 75, 80, 90]);
  assert.deepEqual(await attempts(2_000, 5_000), [0, 2, 4]);
});

test("no attempt is made before the time that a failure names", async () => {
  assert.deepEqual(await attempts(10_000, 70_000, { retryAfterSeconds: 30 }), [0, 30, 60]);
});

test("a load learns that the last attempt failed, unless it was asked to load again", async () => {
  const world = new World();
  const learned = [];
  world.store.need([{ key: "a", everyMs: 60_000, load: async (publish, goesOn) => { learned.push(goesOn); throw new Error("no"); } }]);
  await world.pass(5_000);
  world.store.refresh("a");
  await world.pass(1);
  assert.deepEqual(learned, [false, true, false]);
});

test("a refresh while it is paused follows when it is resumed", async () => {
  const world = new World();
  const task = counting("a", 60_000);
  world.store.need([task]);
  await world.pass(1_000);
  world.store.pause();
  world.store.refresh("a");
  await world.pass(1_000);
  assert.equal(task.asked, 1);
  world.store.resume();
  await world.pass(1_000);
  assert.equal(task.asked, 2);
});

test("an answer that no view needed for ten minutes is dropped", async () => {
  const world = new World();
  const [one, other] = [counting("one", 60_000), counting("other", 60_000)];
  world.store.need([one, other]);
  await world.pass(1_000);
  world.store.need([other]);
  await world.pass(10 * 60_000);
  world.store.need([other]);
  assert.equal(world.store.value("one"), 1);
  await world.pass(1_000);
  world.store.need([other]);
  assert.equal(world.store.value("one"), undefined);
  assert.equal(world.store.value("other"), 11);
});

test("a task that has nothing to ask for does not count as an answer", async () => {
  const world = new World();
  let hang = false;
  world.store.need([{ key: "nothing", everyMs: 2_000, load: async () => undefined }, { key: "a", everyMs: 10_000, load: () => (hang ? new Promise(() => {}) : Promise.resolve(1)) }]);
  await world.pass(1);
  hang = true;
  await world.pass(19_000);
  assert.equal(world.store.freshness.seconds, 19);
});

test("answers apply in the order of their requests", () => {
  const applied = [];
  const begin = inOrder((answer) => applied.push(answer));
  const [first, second, third] = [begin(), begin(), begin()];
  second("second");
  first("first");
  third("third");
  assert.deepEqual(applied, ["second", "third"]);
});
