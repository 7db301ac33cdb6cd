// RateLimiterMemory of rate-limiter-flexible, over the line protocol of the law book.
import { createInterface } from "node:readline";

// The package reads Date.now and sets timers. Both follow the time of the requests; a timer that is due fires before
// the request is answered. Date.now counts whole milliseconds, as in Node.
let now = 0;
let timers = [];
Date.now = () => now;
globalThis.setTimeout = (action, delay) => {
  const timer = { action, at: now + delay };
  timers.push(timer);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  timers = timers.filter((other) => other !== timer);
};
const moveTo = (time) => {
  for (;;) {
    const next = timers.filter((timer) => timer.at <= time).sort((a, b) => a.at - b.at)[0];
    if (!next) break;
    clearTimeout(next);
    now = Math.max(now, next.at);
    next.action();
  }
  now = time;
};

const { RateLimiterMemory } = await import("rate-limiter-flexible");

let start;
const limiters = new Map();
const operations = {
  hello: () => ({ protocol: 1, clock: "moved", retryAfter: true }),
  // Twice the points around the end of a duration, which begins at the first claim; a refused caller waits for its end.
  terms: ({ tokens, per }) => {
    const points = 1 + (tokens % 20);
    const seconds = 1 + (Math.floor(per / 60e9) % 2) * 59;
    return { tokens: points, per: seconds * 1e9, capacity: points, slack: points, lateness: seconds * 1e9 };
  },
  reset: () => {
    now = start;
    timers = [];
    limiters.clear();
  },
  open: ({ tenant, tokens, per }) => {
    limiters.set(tenant, new RateLimiterMemory({ points: tokens, duration: per / 1e9 }));
  },
  claim: ({ tenant, count }) =>
    limiters.get(tenant).consume(tenant, count).then(
      () => ({ admitted: true }),
      (refusal) => {
        if (refusal instanceof Error) throw refusal;
        return { admitted: false, retryAfter: refusal.msBeforeNext * 1e6 };
      },
    ),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const request = JSON.parse(line);
  if (request.op === "reset") start = Date.parse(request.start);
  if (request.now > 0) moveTo(start + Math.floor(request.now / 1e6));
  const answer = await operations[request.op](request);
  console.log(JSON.stringify({ id: request.id, ...answer }));
});
