package dev.tollgate.cli.pacing;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Sends requests at a limited rate, from any number of threads, and retries requests that fail for
 * a temporary reason. Retries are safe because all requests of the control plane are idempotent.
 *
 * <p>After 429 and 503, no thread sends a request for the time in {@code Retry-After}, or else for
 * one second, then two, four, and so on. Retries count towards the rate like other requests.
 */
public final class PacedApi implements Sender {
  private static final int MAX_ATTEMPTS = 6;

  /** Doubled after each attempt: half a minute in total. */
  private static final Duration FIRST_WAIT = Duration.ofSeconds(1);

  /** The longest {@code Retry-After} that is waited for; after a longer one the request fails. */
  private static final Duration MAX_WAIT = Duration.ofMinutes(5);

  /** The request was throttled and not executed. */
  private static final Set<Integer> BUSY = Set.of(429, 503);

  /** The request may have been executed: the service behind the gateway failed or timed out. */
  private static final Set<Integer> UNCERTAIN = Set.of(500, 502, 504);

  private final Sender api;
  private final Pace pace;
  private final Shell shell;
  private volatile boolean hasResponded;

  /**
   * @param perSecond the number of requests per second, above 0
   */
  public PacedApi(Sender api, double perSecond, Shell shell) {
    this.api = api;
    this.pace = new Pace(perSecond, shell.nanoTime());
    this.shell = shell;
  }

  /**
   * Sends a request, with retries; returns the last response.
   *
   * @throws Failure if no attempt gets a response. Before the API's first response there is only
   *     one attempt, because its address may be wrong
   */
  @Override
  public Response send(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    Duration backOff = FIRST_WAIT;
    for (int attempt = 1; ; attempt++, backOff = backOff.multipliedBy(2)) {
      pauseFor(pace.next());
      boolean last = attempt == MAX_ATTEMPTS;
      try {
        Response response = api.send(method, path, body, headers);
        hasResponded = true;
        boolean busy = BUSY.contains(response.status());
        if (last || !(busy || UNCERTAIN.contains(response.status()))) {
          return response;
        }
        Duration wait = response.retryAfter().orElse(backOff);
        if (wait.compareTo(MAX_WAIT) > 0) {
          return response;
        }
        if (busy) {
          pace.delay(wait);
        } else {
          pauseFor(wait);
        }
      } catch (Failure noResponse) {
        if (last || !hasResponded || Thread.currentThread().isInterrupted()) {
          throw noResponse;
        }
        pauseFor(backOff);
      }
    }
  }

  private void pauseFor(Duration time) {
    if (!time.isZero()) {
      shell.sleep(time);
    }
  }
}
