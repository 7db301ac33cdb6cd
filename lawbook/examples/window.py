# A fixed window that promises to be a token bucket, so it breaks laws.
import json
import sys

windows = {}


def claim(tenant, count, now):
    window = windows[tenant]
    start = now - now % window["per"]
    if start != window["start"]:
        window.update(start=start, admitted=0)
    if window["admitted"] == window["limit"]:
        return {"admitted": False, "retryAfter": start + window["per"] - now}
    window["admitted"] += 1
    return {"admitted": True}


operations = {
    "hello": lambda protocol: {"protocol": 1, "clock": "moved", "retryAfter": True},
    # What a fixed window can keep: {"capacity": tokens, "slack": tokens, "lateness": per}.
    "terms": lambda tokens, per, capacity: {"capacity": tokens},
    "reset": lambda start, now: windows.clear(),
    "open": lambda tenant, tokens, per, capacity, now: windows.update(
        {tenant: {"limit": tokens, "per": per, "start": 0, "admitted": 0}}
    ),
    "claim": claim,
}
for line in sys.stdin:
    request = json.loads(line)
    id, operation = request.pop("id"), request.pop("op")
    print(json.dumps({"id": id, **(operations[operation](**request) or {})}), flush=True)
