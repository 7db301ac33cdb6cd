package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.PacedApi;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import picocli.CommandLine.Option;

/** Reads tenants with their minutes, for commands with the option {@code --since}. */
final class MinutesReader {
  /** The current minute, and those that may still change. */
  static final Duration INCOMPLETE = Duration.ofMinutes(3);

  /** How long minutes are kept. */
  static final Duration LONGEST = Duration.ofDays(31);

  /** Low, because a report must not slow down a busy deployment. */
  private static final double REQUESTS_PER_SECOND = 10;

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration DAY = Duration.ofDays(1);

  private final CommandEnvironment tollgate;
  private final Shell shell;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      defaultValue = "7d",
      description =
          "How long ago the first minute is, such as 12h or 31d, which is the most. Default: 7d.")
  private Duration since = Duration.ofDays(7);

  MinutesReader(CommandEnvironment tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  /**
   * A tenant.
   *
   * @param document its document
   * @param minutes the minutes in which something happened
   */
  record Tenant(JsonNode document, List<JsonNode> minutes) {
    String id() {
      return document.path("tenantId").asText();
    }

    /** The tokens of an action that were taken in a minute. */
    static long taken(JsonNode minute, String action) {
      return minute
          .path("tokens")
          .valueStream()
          .filter(bucket -> bucket.path("action").asText().equals(action))
          .mapToLong(bucket -> bucket.path("taken").asLong())
          .sum();
    }
  }

  /**
   * Opens the history of the last minutes that do not change any more.
   *
   * @throws Failure if {@code --since} is longer than minutes are kept
   */
  Reading open() {
    Failure.checkOption(
        since.compareTo(LONGEST) <= 0,
        "--since",
        Span.text(since),
        "at most " + Span.text(LONGEST));
    Sender api = new PacedApi(tollgate.controlPlane(), REQUESTS_PER_SECOND, shell);
    Instant to = Span.now(api).minus(INCOMPLETE);
    return new Reading(api, new Span(to.minus(since), to));
  }

  /** The history of a time. */
  final class Reading {
    private final Sender api;
    private final Span span;

    private Reading(Sender api, Span span) {
      this.api = api;
      this.span = span;
    }

    Sender api() {
      return api;
    }

    Span span() {
      return span;
    }

    /**
     * Reads tenants one after the other.
     *
     * @param named ids; if there are none, all tenants of the tier
     * @param tier if empty, all tenants
     * @param evaluation what to keep of a tenant
     * @throws Failure if a named tenant or the tier does not exist
     */
    <T> List<T> read(List<String> named, Optional<String> tier, Function<Tenant, T> evaluation) {
      List<String> ids = named.isEmpty() ? ids(tier) : named;
      List<T> results = new ArrayList<>();
      try (Progress progress = tollgate.progress()) {
        progress.start("Read", ids.size(), "tenants");
        for (String id : ids) {
          Response response = api.get(Paths.tenant(id));
          // A tenant that was removed since the list was read is left out.
          if (response.status() != 404 || !named.isEmpty()) {
            JsonNode document = found(response, id).json();
            List<JsonNode> minutes = new ArrayList<>();
            span.parts().forEach(part -> minutes.addAll(steps(id, part, MINUTE)));
            results.add(evaluation.apply(new Tenant(document, minutes)));
          }
          progress.step(true);
        }
      }
      return results;
    }

    private List<String> ids(Optional<String> tier) {
      Map<String, String> filters = tier.map(name -> Map.of("tier", name)).orElseGet(Map::of);
      return tollgate.tenants(api, new TreeMap<>(filters)).stream()
          .map(tenant -> tenant.path("tenantId").asText())
          .toList();
    }

    /**
     * Returns a successful response about a tenant.
     *
     * @throws Failure if the response is not successful
     */
    Response found(Response response, String id) {
      if (response.status() != 404) {
        return response.orThrow();
      }
      return tollgate.found(
          response,
          steps(id, new Span(span.to().minus(LONGEST), span.to()), DAY).isEmpty()
              ? "No tenant named `%s`. List tenants with `tollgate tenants list`.".formatted(id)
              : "Tenant `%1$s` was offboarded, with its limits and buckets. Its minutes are kept: `tollgate history %1$s --since 31d`."
                  .formatted(id));
    }

    /**
     * The number of minutes of the time since the tenant was onboarded. The API does not report the
     * onboarding, but it leaves the tenant's first minute, because buckets are filled; without a
     * bucket that counts fills, the first connection does.
     *
     * @return empty if the history has no minute of the tenant
     */
    OptionalLong age(Tenant tenant) {
      Instant first =
          tenant.minutes().stream()
              .findFirst()
              .map(minute -> Instant.parse(minute.path("at").asText()))
              .orElse(span.to());
      Span before = new Span(span.to().minus(LONGEST), span.from());
      if (first.equals(span.from())
          || (before.minutes() > 0 && !steps(tenant.id(), before, DAY).isEmpty())) {
        return OptionalLong.of(span.minutes());
      }
      return first.equals(span.to())
          ? OptionalLong.empty()
          : OptionalLong.of(new Span(first, span.to()).minutes());
    }

    /** Steps in which something happened; none if the API knows no such tenant. */
    private List<JsonNode> steps(String id, Span part, Duration step) {
      Response response = api.get(Paths.tenant(id) + "/history" + Api.suffix(part.query(step)));
      return response.status() == 404
          ? List.of()
          : response.orThrow().json().path("steps").valueStream().toList();
    }
  }
}
