// A token bucket in whole numbers: a token is `per` units of credit, and each nanosecond adds `tokens` units.
import { createInterface } from "node:readline";

const buckets = new Map();
const operations = {
  hello: () => ({ protocol: 1, clock: "moved", retryAfter: true, several: true }),
  terms: () => ({}), // keeps any rate and capacity exactly
  reset: () => buckets.clear(),
  open: ({ tenant, tokens, per, capacity, now }) => {
    const full = BigInt(capacity) * BigInt(per);
    buckets.set(tenant, { rate: BigInt(tokens), token: BigInt(per), full, credit: full, at: BigInt(now) });
  },
  claim: ({ tenant, count, now }) => {
    const bucket = buckets.get(tenant);
    const filled = bucket.credit + (BigInt(now) - bucket.at) * bucket.rate;
    bucket.credit = filled < bucket.full ? filled : bucket.full;
    bucket.at = BigInt(now);
    const missing = BigInt(count) * bucket.token - bucket.credit;
    if (missing > 0n) return { admitted: false, retryAfter: Number((missing - 1n) / bucket.rate + 1n) };
    bucket.credit = -missing;
    return { admitted: true };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, ...operations[request.op](request) }));
});
