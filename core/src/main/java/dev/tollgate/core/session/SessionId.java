package dev.tollgate.core.session;

import dev.tollgate.core.InvalidValue;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * A session's name, and the secret that a handshake needs: 128 random bits as 32 hexadecimal
 * digits. Only the server makes them.
 */
public record SessionId(String value) {
  private static final Pattern SYNTAX = Pattern.compile("[0-9a-f]{32}");
  private static final int BYTES = 16;

  /**
   * Checks the name.
   *
   * @throws InvalidValue if it is not 32 hexadecimal digits
   */
  public SessionId {
    if (!isValid(value)) {
      throw InvalidValue.ofSecret("sessionId", value, SYNTAX.pattern());
    }
  }

  /** Whether a text could be a session's name. */
  public static boolean isValid(String text) {
    return SYNTAX.matcher(text).matches();
  }

  /** A new session's name. */
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
