package dev.tollgate.cli.history;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Response;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A deployment with tenants of the tier {@code gold} and their minutes. It is 14:59:30. */
final class StubHistory implements AutoCloseable {
  private static final Pattern HISTORY =
      Pattern.compile("/control/tenants/([a-z]+)/history\\?from=(.*)&to=(.*)&step=.*");
  private static final Pattern TENANT = Pattern.compile("/control/tenants/([a-z]+)");
  private static final Pattern LIST = Pattern.compile("/control/tenants(\\?tier=gold)?");

  private final StubDeployment deployment;
  private final SortedMap<String, String> tenants = new TreeMap<>();
  private final SortedMap<String, SortedMap<Instant, String>> minutes = new TreeMap<>();
  private String removed = "";

  StubHistory(Path directory) throws IOException {
    deployment =
        new StubDeployment(directory)
            .answers(
                "GET /control/fleet/tenants?window=1m&limit=1",
                200,
                "{\"from\":\"2026-03-12T14:59:00Z\",\"to\":\"2026-03-12T15:00:00Z\","
                    + "\"activeTenants\":0,\"tenants\":[]}")
            .answers("GET /control/tiers/gold", 200, "{\"tier\":\"gold\"}")
            .answers("GET /control/tenants?tier=nosuch", 200, "{\"tenants\":[]}")
            .answers(
                "GET /control/tiers/nosuch", 404, Documents.problem(404, "Not Found", "no tier"))
            .answersWith((request, ifMatch) -> answer(request));
  }

  /** Adds a tenant as {@link Documents#ACME} with another id. */
  StubHistory tenant(String id) {
    return tenant(id, Documents.ACME);
  }

  /** Adds a tenant as another document of {@code acme}, with its own id. */
  StubHistory tenant(String id, String document) {
    tenants.put(id, document.replace("acme", id));
    return this;
  }

  /** Adds a minute in which something happened, also to a tenant that was offboarded. */
  StubHistory minute(String id, String at, String counts) {
    minutes
        .computeIfAbsent(id, key -> new TreeMap<>())
        .put(Instant.parse(at), "{\"at\":\"" + at + "\"," + counts + "}");
    return this;
  }

  /** Removes a tenant as soon as the list of all tenants was read. */
  StubHistory removedMeanwhile(String id) {
    removed = id;
    return this;
  }

  Run run(String command) {
    return deployment.run(command.split(" ", -1));
  }

  /** The requests for minutes of a tenant. */
  List<String> historyRequests() {
    return deployment.requests().stream()
        .map(Request::path)
        .filter(HISTORY.asMatchPredicate())
        .toList();
  }

  private Optional<Response> answer(Request request) {
    Matcher history = HISTORY.matcher(request.path());
    Matcher tenant = TENANT.matcher(request.path());
    if (history.matches()) {
      String id = history.group(1);
      List<String> steps =
          List.copyOf(
              minutes
                  .getOrDefault(id, new TreeMap<>())
                  .subMap(instant(history.group(2)), instant(history.group(3)))
                  .values());
      return steps.isEmpty() && !tenants.containsKey(id)
          ? missing()
          : found("{\"steps\":[" + String.join(",", steps) + "]}");
    }
    if (tenant.matches()) {
      String document = tenants.get(tenant.group(1));
      return document == null || tenant.group(1).equals(removed) ? missing() : found(document);
    }
    return LIST.matcher(request.path()).matches()
        ? found("{\"tenants\":[" + String.join(",", tenants.values()) + "]}")
        : Optional.empty();
  }

  private static Instant instant(String encoded) {
    return Instant.parse(URLDecoder.decode(encoded, StandardCharsets.UTF_8));
  }

  private static Optional<Response> found(String body) {
    return Optional.of(new Response(200, body, Map.of()));
  }

  private static Optional<Response> missing() {
    return Optional.of(new Response(404, Documents.problem(404, "Not Found", "none"), Map.of()));
  }

  @Override
  public void close() {
    deployment.close();
  }
}
