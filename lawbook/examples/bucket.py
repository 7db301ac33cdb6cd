# A token bucket in whole numbers: a token is `per` units of credit, and each nanosecond adds `tokens` units.
import json
import sys

buckets = {}


def claim(tenant, count, now):
    bucket = buckets[tenant]
    filled = bucket["credit"] + (now - bucket["at"]) * bucket["tokens"]
    bucket.update(credit=min(filled, bucket["full"]), at=now)
    missing = count * bucket["per"] - bucket["credit"]
    if missing > 0:
        return {"admitted": False, "retryAfter": (missing - 1) // bucket["tokens"] + 1}
    bucket["credit"] = -missing
    return {"admitted": True}


operations = {
    "hello": lambda protocol: {"protocol": 1, "clock": "moved", "retryAfter": True, "several": True},
    "terms": lambda tokens, per, capacity: {},  # keeps any rate and capacity exactly
    "reset": lambda start, now: buckets.clear(),
    "open": lambda tenant, tokens, per, capacity, now: buckets.update(
        {tenant: {"tokens": tokens, "per": per, "full": capacity * per, "credit": capacity * per, "at": now}}
    ),
    "claim": claim,
}
for line in sys.stdin:
    request = json.loads(line)
    id, operation = request.pop("id"), request.pop("op")
    print(json.dumps({"id": id, **(operations[operation](**request) or {})}), flush=True)
