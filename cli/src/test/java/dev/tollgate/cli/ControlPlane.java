package dev.tollgate.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Response;
import dev.tollgate.cli.http.Json;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A stateful stub of the control plane for changes of many tiers and tenants. It has pages,
 * versions, conditions, dry runs, and tenants that take time to be removed. Tests can make it
 * refuse requests.
 */
public final class ControlPlane implements StubDeployment.Responder {
  private static final int PAGE = 100;

  private final SortedMap<String, ObjectNode> tiers = new TreeMap<>();
  private final SortedMap<String, ObjectNode> tenants = new TreeMap<>();
  private final Map<String, Deque<Response>> refusals = new HashMap<>();
  private final Map<String, Runnable> beforeRequests = new HashMap<>();
  private final List<String> writes = new ArrayList<>();
  private boolean slow;

  public ControlPlane() {
    for (String tier : List.of("bronze", "silver", "gold")) {
      // Without the values that are standard, as a file may omit them.
      String optional = ",\"sessionLifetime\":86400,\"sessionsPerSubject\":2";
      String bronze = Documents.BRONZE.replace(optional, "");
      ObjectNode document = (ObjectNode) Json.parse(bronze).orElseThrow();
      tiers.put(tier, document.put("tier", tier).put("version", 0));
    }
  }

  /** Adds a tenant with version 1. */
  public synchronized ControlPlane tenant(String id, String tier, String overrides) {
    ObjectNode tenant = Json.object().put("tenantId", id).put("tier", tier);
    tenant.put("status", "ACTIVE").put("version", 1);
    tenant.set("overrides", Json.parse(overrides).orElseThrow());
    tenants.put(id, tenant);
    return this;
  }

  public synchronized ObjectNode tenant(String id) {
    return Objects.requireNonNull(tenants.get(id), id);
  }

  public synchronized List<String> tenants() {
    return List.copyOf(tenants.keySet());
  }

  public synchronized List<String> tiers() {
    return List.copyOf(tiers.keySet());
  }

  /** From now on, an offboarded tenant stays until {@link #removalsEnd}. */
  public synchronized ControlPlane slow() {
    slow = true;
    return this;
  }

  /** Finishes the removals in progress. */
  public synchronized void removalsEnd() {
    tenants.values().removeIf(tenant -> tenant.path("status").asText().equals("OFFBOARDING"));
    slow = false;
  }

  /** Refuses the next such request, for example {@code POST /tenants acme}. */
  public synchronized ControlPlane refuses(
      String request, int status, Map<String, String> headers) {
    refusals
        .computeIfAbsent(request, key -> new ArrayDeque<>())
        .add(new Response(status, Documents.problem(status, "Refused", "on purpose"), headers));
    return this;
  }

  /** Runs an action once just before such a request, as another caller would. */
  public synchronized ControlPlane before(String request, Runnable action) {
    beforeRequests.put(request, action);
    return this;
  }

  /** Changes a tenant, as another caller would. */
  public synchronized void changedByOthers(String id) {
    ObjectNode tenant = tenant(id);
    tenant.put("status", "SUSPENDED").put("version", tenant.path("version").asLong() + 1);
  }

  /** Creates a tier, as another caller would. */
  public synchronized void tierByOthers(String name) {
    tiers.put(name, Json.object().put("tier", name).put("version", 4));
  }

  /**
   * The requests that were to change something, in their order, each with its condition if it had
   * one.
   */
  public synchronized List<String> writes() {
    return List.copyOf(writes);
  }

  public synchronized void forgetWrites() {
    writes.clear();
  }

  @Override
  public synchronized Optional<Response> answer(Request request, Optional<String> ifMatch) {
    URI uri = URI.create(request.path());
    String path = uri.getPath().replaceFirst("^/control", "");
    String query = Optional.ofNullable(uri.getQuery()).orElse("");
    JsonNode body = Json.parse(request.body()).orElse(Json.object());
    boolean dryRun = query.contains("dryRun=true");
    String key = request.method() + " " + path;
    if (request.method().equals("POST")) {
      key += " " + body.path("tenantId").asText();
    }
    if (!request.method().equals("GET") && !dryRun) {
      writes.add(key + ifMatch.map(tag -> " if " + tag).orElse(""));
      Optional.ofNullable(beforeRequests.remove(key)).ifPresent(Runnable::run);
    }
    Deque<Response> refusal = refusals.getOrDefault(key, new ArrayDeque<>());
    if (!refusal.isEmpty() && !dryRun) {
      return Optional.of(refusal.remove());
    }
    String name = path.substring(path.lastIndexOf('/') + 1);
    if (path.equals("/tiers")) {
      return json(200, list("tiers", tiers.values().stream().toList()));
    }
    if (path.startsWith("/tiers/")) {
      return request.method().equals("DELETE")
          ? removeTier(name, ifMatch)
          : putTier(name, (ObjectNode) body, ifMatch, dryRun);
    }
    if (path.equals("/tenants")) {
      return request.method().equals("GET") ? page(query) : onboard((ObjectNode) body);
    }
    return tenant(request.method(), name, (ObjectNode) body, ifMatch, dryRun);
  }

  private Optional<Response> page(String query) {
    SortedMap<String, ObjectNode> rest =
        query.startsWith("cursor=") ? tenants.tailMap(query.substring(7)) : tenants;
    List<ObjectNode> all = List.copyOf(rest.values());
    ObjectNode page = list("tenants", all.subList(0, Math.min(PAGE, all.size())));
    if (all.size() > PAGE) {
      page.put("next", all.get(PAGE).path("tenantId").asText());
    }
    return json(200, page);
  }

  private static ObjectNode list(String name, List<ObjectNode> documents) {
    ObjectNode list = Json.object();
    ArrayNode array = list.putArray(name);
    documents.forEach(array::add);
    return list;
  }

  private Optional<Response> putTier(
      String name, ObjectNode body, Optional<String> ifMatch, boolean dryRun) {
    Optional<ObjectNode> current = Optional.ofNullable(tiers.get(name));
    long version = current.map(ControlPlane::version).orElse(0L);
    if (body.path("fillMode").asText().equals("NEVER")) {
      return invalid("fillMode", "NEVER", "PRODUCER");
    }
    if (!matches(current, ifMatch)) {
      return problem(412);
    }
    ObjectNode next = body.deepCopy();
    next.remove("version");
    next.put("tier", name);
    for (Map.Entry<String, String> given :
        Map.of("fillMode", "PRODUCER", "onUnavailable", "ADMIT").entrySet()) {
      next.put(given.getKey(), next.path(given.getKey()).asText(given.getValue()));
    }
    next.put("line", next.path("line").asBoolean(true));
    next.withObjectProperty("buckets");
    ObjectNode before = current.map(ObjectNode::deepCopy).orElse(Json.object());
    before.remove("version");
    boolean same = before.equals(next);
    if (dryRun) {
      ObjectNode answer = Json.object().put("dryRun", true).put("version", version);
      answer.put("outcome", current.isEmpty() ? "CREATED" : same ? "UNCHANGED" : "CHANGED");
      answer.set("changes", changes(before, next.deepCopy().without("tier")));
      answer.putArray("tenants");
      answer.putObject("totals").put("tenants", 0).put("changed", 0);
      return json(200, answer);
    }
    if (same) {
      return json(200, current.orElseThrow());
    }
    if (body.has("version") && body.path("version").asLong() != version) {
      return problem(409);
    }
    tiers.put(name, next.put("version", version + 1));
    tenants.values().stream()
        .filter(tenant -> tenant.path("tier").asText().equals(name))
        .forEach(tenant -> tenant.put("version", version(tenant) + 1));
    return json(current.isEmpty() ? 201 : 202, next);
  }

  /** The differences between two documents, each with the old value, if any, and the new one. */
  private static ObjectNode changes(JsonNode before, JsonNode next) {
    ObjectNode changes = Json.object();
    next.properties()
        .forEach(
            field -> {
              JsonNode from = before.path(field.getKey());
              JsonNode to = field.getValue();
              if (to.isObject()) {
                ObjectNode within = changes(from, to);
                if (!within.isEmpty()) {
                  changes.set(field.getKey(), within);
                }
              } else if (!to.equals(from)) {
                ObjectNode change = changes.putObject(field.getKey());
                if (!from.isMissingNode()) {
                  change.set("from", from);
                }
                change.set("to", to);
              }
            });
    return changes;
  }

  private Optional<Response> removeTier(String name, Optional<String> ifMatch) {
    Optional<ObjectNode> current = Optional.ofNullable(tiers.get(name));
    if (current.isEmpty() || !matches(current, ifMatch)) {
      return problem(current.isEmpty() ? 404 : 412);
    }
    if (tenants.values().stream().anyMatch(it -> it.path("tier").asText().equals(name))) {
      return problem(409);
    }
    tiers.remove(name);
    return Optional.of(new Response(204, "", Map.of()));
  }

  private Optional<Response> onboard(ObjectNode body) {
    String id = body.path("tenantId").asText();
    if (!tiers.containsKey(body.path("tier").asText())) {
      return problem(400);
    }
    ObjectNode current = tenants.get(id);
    if (current == null) {
      tenant(id, body.path("tier").asText(), Json.write(body.withObjectProperty("overrides")));
      return json(201, tenant(id));
    }
    boolean same =
        !current.path("status").asText().equals("OFFBOARDING")
            && current.path("tier").equals(body.path("tier"))
            && current.path("overrides").equals(body.withObjectProperty("overrides"));
    return same ? json(200, current) : problem(409);
  }

  private Optional<Response> tenant(
      String method, String id, ObjectNode body, Optional<String> ifMatch, boolean dryRun) {
    Optional<ObjectNode> current = Optional.ofNullable(tenants.get(id));
    if (!matches(current, ifMatch)) {
      return problem(412);
    }
    if (current.isEmpty()) {
      return problem(404);
    }
    ObjectNode tenant = current.get();
    if (method.equals("GET")) {
      return json(200, tenant);
    }
    if (method.equals("DELETE")) {
      tenant.put("status", "OFFBOARDING").put("version", version(tenant) + 1);
      if (slow) {
        return json(202, tenant);
      }
      tenants.remove(id);
      return Optional.of(new Response(204, "", Map.of()));
    }
    JsonNode overrides = body.path("overrides");
    if (overrides.has("sessionLifetime")
        && overrides.path("sessionTTL").asLong() > overrides.path("sessionLifetime").asLong()) {
      return invalid(
          "overrides.sessionTTL",
          overrides.path("sessionTTL").asText(),
          "at most sessionLifetime: " + overrides.path("sessionLifetime"));
    }
    if (dryRun) {
      return json(
          200,
          Json.parse(Documents.DRY_BRONZE.replace("acme", id).replace("\"tier\":\"bronze\",", ""))
              .orElseThrow());
    }
    tenant.setAll(body);
    tenant.put("version", version(tenant) + 1);
    return json(200, tenant);
  }

  private static boolean matches(Optional<ObjectNode> current, Optional<String> ifMatch) {
    return ifMatch.isEmpty()
        || current.map(it -> "\"" + version(it) + "\"").filter(ifMatch.get()::equals).isPresent();
  }

  private static long version(ObjectNode document) {
    return document.path("version").asLong();
  }

  private static Optional<Response> json(int status, JsonNode document) {
    return Optional.of(new Response(status, Json.write(document), Map.of()));
  }

  private static Optional<Response> invalid(String field, String value, String expected) {
    ObjectNode problem =
        (ObjectNode) Json.parse(Documents.problem(400, "Not valid", field)).orElseThrow();
    problem
        .putArray("errors")
        .addObject()
        .put("field", field)
        .put("value", value)
        .put("expected", expected);
    return json(400, problem);
  }

  private static Optional<Response> problem(int status) {
    return json(
        status,
        Json.parse(Documents.problem(status, "Refused", "the request was refused")).orElseThrow());
  }
}
