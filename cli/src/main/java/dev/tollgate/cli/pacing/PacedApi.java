package dev.tollgate.cli.pacing;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Answer;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Sends requests at one pace, from any number of threads, and sends again what an API had no time
 * for. All requests of the control plane may be repeated.
 *
 * <p>After 429 and 503 nobody sends anything for as long as {@code Retry-After} says, or else for a
 * second, then two, four, and so on; so whoever was refused does not come back at once with all
 * others. A repeated request takes a turn of the pace as any other.
 */
public final class PacedApi implements Sender {
  private static final int MOST_ATTEMPTS = 6;

  /** Doubled after each attempt: half a minute altogether. */
  private static final Duration FIRST_WAIT = Duration.ofSeconds(1);

  /** Whoever is told to wait longer than this had better come back later. */
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

  /** There was no room for the request. */
  private static final Set<Integer> BUSY = Set.of(429, 503);

  /** The request may have been done or not: what is behind the gateway failed or took too long. */
  private static final Set<Integer> UNCERTAIN = Set.of(500, 502, 504);

  private final Sender api;
  private final Pace pace;
  private final Shell shell;
  private volatile boolean hasAnswered;

  public PacedApi(Sender api, Pace pace, Shell shell) {
    this.api = api;
    this.pace = pace;
    this.shell = shell;
  }

  /**
   * Sends a request until it is answered for good; the last answer otherwise.
   *
   * @throws Failure if no answer comes, however often it is sent; at once if this API has never
   *     answered yet, for then it may not be there at all
   */
  @Override
  public Answer send(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    Duration backOff = FIRST_WAIT;
    for (int attempt = 1; ; attempt++, backOff = backOff.multipliedBy(2)) {
      pauseFor(pace.next());
      boolean last = attempt == MOST_ATTEMPTS;
      try {
        Answer answer = api.send(method, path, body, headers);
        hasAnswered = true;
        boolean busy = BUSY.contains(answer.status());
        if (last || !(busy || UNCERTAIN.contains(answer.status()))) {
          return answer;
        }
        Duration wait = answer.retryAfter().orElse(backOff);
        if (wait.compareTo(LONGEST_WAIT) > 0) {
          return answer;
        }
        if (busy) {
          pace.holdBack(wait);
        } else {
          pauseFor(wait);
        }
      } catch (Failure noAnswer) {
        if (last || !hasAnswered || Thread.currentThread().isInterrupted()) {
          throw noAnswer;
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
