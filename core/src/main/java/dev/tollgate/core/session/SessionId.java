package dev.tollgate.core.session;

import dev.tollgate.core.InvalidValue;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * A session's id and the secret that a handshake needs: 128 random bits as 32 hexadecimal digits.
 * Only the server generates ids.
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
