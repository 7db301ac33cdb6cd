package dev.tollgate.core.idempotency;

import java.util.Map;

/**
 * The stored response of a request, for repetitions of the request.
 *
 * @param status the HTTP status
 * @param headers the headers, by lower-case name
 * @param body the body
 */
public record StoredResponse(int status, Map<String, String> headers, String body) {
  /** Copies the headers. */
  public StoredResponse {
    headers = Map.copyOf(headers);
  }
}
