package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.Optional;

/**
 * What an API answered.
 *
 * @param status the HTTP status code
 * @param body the body as it came, perhaps empty
 */
public record Answer(int status, HttpHeaders headers, String body) {

  public boolean succeeded() {
    return status / 100 == 2;
  }

  /** This answer, unless it is a refusal. */
  public Answer orFail() {
    if (!succeeded()) {
      throw Failure.refused(this);
    }
    return this;
  }

  /** The body as JSON; a missing node when it holds none. */
  public JsonNode json() {
    return Json.parse(body).orElse(MissingNode.getInstance());
  }

  /** Whether the sender may not do this, and so nothing of the kind. */
  public boolean isNotAllowed() {
    return status == 401 || status == 403;
  }

  /** The whole seconds of {@code Retry-After}, if the answer has them; a date is not understood. */
  public Optional<Duration> retryAfter() {
    return headers
        .firstValue("Retry-After")
        .filter(value -> value.matches("[0-9]{1,9}"))
        .map(Long::parseLong)
        .map(Duration::ofSeconds);
  }

  public Problem problem() {
    return Problem.of(status, body);
  }
}
