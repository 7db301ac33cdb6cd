package dev.tollgate.http;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.idempotency.IdempotencyKey;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Reads the header {@code Idempotency-Key} (draft-ietf-httpapi-idempotency-key-header-07, section
 * 2). Its value is a structured-field string (RFC 9651, section 3.3.3): text in double quotes, with
 * a backslash before each quote and backslash inside.
 */
public final class IdempotencyKeyHeader {
  private static final String NAME = "idempotency-key";

  /** Enough for the longest key with every character escaped, its quotes and some spaces. */
  private static final int MAX_LENGTH = 600;

  private static final Pattern STRING =
      Pattern.compile(" *\"((?:[ !#-\\[\\]-~]|\\\\[\"\\\\])*)\" *");

  private IdempotencyKeyHeader() {}

  /**
   * The key of a request; empty if it has none.
   *
   * @throws InvalidValue if the header is malformed or its text is not a valid key
   */
  public static Optional<IdempotencyKey> of(Request request) {
    return request.header(NAME).map(IdempotencyKeyHeader::parsed);
  }

  private static IdempotencyKey parsed(String header) {
    var string = STRING.matcher(header);
    InvalidValue.unless(
        header.length() <= MAX_LENGTH && string.matches(),
        "Idempotency-Key",
        header,
        "text in double quotes, such as \"8e03978e-40d5-43dd-bc93-6894a57f9324\"");
    return new IdempotencyKey(string.group(1).replaceAll("\\\\(.)", "$1"));
  }
}
