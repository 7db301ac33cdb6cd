package dev.tollgate.core.idempotency;

import java.util.Map;

/**
 * What a request was answered, to be answered again.
 *
 * @param status the HTTP status
 * @param headers by lower-case name
 * @param body the body as it was sent
 */
public record StoredResponse(int status, Map<String, String> headers, String body) {
  /** Copies the headers. */
  public StoredResponse {
    headers = Map.copyOf(headers);
  }
}
