package dev.tollgate.http;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.idempotency.IdempotencyKey;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The header {@code Idempotency-Key} (draft-ietf-httpapi-idempotency-key-header-07, section 2): a
 * String of structured fields (RFC 9651, section 3.3.3), that is, between quotes, with a backslash
 * before each quote and backslash in it.
 */
public final class IdempotencyKeyHeader {
  private static final String NAME = "idempotency-key";

  /** A key all of whose characters are escaped, between its quotes, and some spaces. */
  private static final int LONGEST = 600;

  private static final Pattern STRING =
      Pattern.compile(" *\"((?:[ !#-\\[\\]-~]|\\\\[\"\\\\])*)\" *");

  private IdempotencyKeyHeader() {}

  /**
   * The key of a request, if it has one.
   *
   * @throws InvalidValue if it is no such string, or one that is no key
   */
  public static Optional<IdempotencyKey> of(Request request) {
    return request.header(NAME).map(IdempotencyKeyHeader::parsed);
  }

  private static IdempotencyKey parsed(String header) {
    var string = STRING.matcher(header);
    InvalidValue.unless(
        header.length() <= LONGEST && string.matches(),
        "Idempotency-Key",
        header,
        "a text between quotes, such as \"8e03978e-40d5-43dd-bc93-6894a57f9324\"");
    return new IdempotencyKey(string.group(1).replaceAll("\\\\(.)", "$1"));
  }
}
