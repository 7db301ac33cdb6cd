package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.Optional;

/**
 * The response of an API.
 *
 * @param status the HTTP status code
 * @param body the body; may be empty
 */
public record Response(int status, HttpHeaders headers, String body) {

  public boolean succeeded() {
    return status / 100 == 2;
  }

  /** Returns this response if it is successful; otherwise throws its problem as a failure. */
  public Response orThrow() {
    if (!succeeded()) {
      throw Failure.rejected(this);
    }
    return this;
  }

  /** The body as JSON; a missing node if it is not JSON. */
  public JsonNode json() {
    return Json.parse(body).orElse(MissingNode.getInstance());
  }

  /**
   * Whether the sender lacks credentials or permission, so that similar requests would fail, too.
   */
  public boolean isAccessDenied() {
    return status == 401 || status == 403;
  }

  /**
   * Whether API Gateway has throttled the API, for all clients. A limit of a tenant is refused with
   * a problem document.
   */
  public boolean isThrottledByGateway() {
    return status == 429 && !json().has("title");
  }

  /** The time in {@code Retry-After}, if it is a number of seconds. Dates are ignored. */
  public Optional<Duration> retryAfter() {
    return headers
        .firstValue("Retry-After")
        .filter(value -> value.matches("[0-9]{1,9}"))
        .map(Long::parseLong)
        .map(Duration::ofSeconds);
  }

  /** Until when all limits of the deployment are lifted; empty if they are enforced. */
  public Optional<String> limitsLiftedUntil() {
    return headers
        .firstValue("Tollgate-Admit-All")
        .filter(value -> value.matches("until=[0-9TZ:.-]{1,40}"))
        .map(value -> value.substring("until=".length()));
  }

  public Problem problem() {
    return Problem.of(status, body);
  }
}
