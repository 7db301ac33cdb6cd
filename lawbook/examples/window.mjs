// A fixed window that promises to be a token bucket, so it breaks laws.
import { createInterface } from "node:readline";

const windows = new Map();
const operations = {
  hello: () => ({ protocol: 1, clock: "moved", retryAfter: true }),
  // What a fixed window can keep: { capacity: tokens, slack: tokens, lateness: per }.
  terms: ({ tokens }) => ({ capacity: tokens }),
  reset: () => windows.clear(),
  open: ({ tenant, tokens, per }) => {
    windows.set(tenant, { limit: tokens, per, start: 0, admitted: 0 });
  },
  claim: ({ tenant, now }) => {
    const window = windows.get(tenant);
    const start = now - (now % window.per);
    if (start !== window.start) Object.assign(window, { start, admitted: 0 });
    if (window.admitted === window.limit) return { admitted: false, retryAfter: start + window.per - now };
    window.admitted++;
    return { admitted: true };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, ...operations[request.op](request) }));
});
