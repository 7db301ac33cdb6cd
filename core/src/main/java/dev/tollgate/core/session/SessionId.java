package dev.tollgate.core.session;

import dev.tollgate.core.InvalidValue;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * A session's id and the secret that a handshake needs: 128 random bits as 32 hexadecimal digits.
 * Only the server generates ids. At an attached API, handshakes need no id, and the session of a
 * subject has an id that follows from the subject.
 */
public record SessionId(String value) {
  private static final Pattern SYNTAX = Pattern.compile("[0-9a-f]{32}");
  private static final int BYTES = 16;

  /**
   * Checks the id.
   *
   * @throws InvalidValue if it is not 32 hexadecimal digits
   */
  public SessionId {
    if (!isValid(value)) {
      throw InvalidValue.ofSecret("sessionId", value, SYNTAX.pattern());
    }
  }

  /** Whether a text has the form of a session id. */
  public static boolean isValid(String text) {
    return SYNTAX.matcher(text).matches();
  }

  /**
   * The id of the session that all connections of a subject share, where no client creates
   * sessions. It is no secret: whoever knows the subject can compute it.
   */
  public static SessionId of(Subject subject) {
    return new SessionId(
        HexFormat.of().formatHex(Base64.getUrlDecoder().decode(subject.pseudonym())));
  }

  /** A new session id. */
  public static SessionId random(SecureRandom random) {
    byte[] bits = new byte[BYTES];
    random.nextBytes(bits);
    return new SessionId(HexFormat.of().formatHex(bits));
  }

  @Override
  public String toString() {
    return value;
  }
}
