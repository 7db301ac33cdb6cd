package dev.tollgate.core.audit;

import dev.tollgate.core.InvalidValue;

/**
 * Who made a change, and by which request.
 *
 * @param who the ARN of the IAM principal, the name of the signed-in user, or the name of a part of
 *     Tollgate such as {@code sweep}; 1 to {@value #MAX_WHO} characters on one line
 * @param request the id of the API's request, or of the function's invocation; that of a repair
 *     begins with {@code repair/}; 1 to {@value #MAX_REQUEST} characters on one line
 */
public record Author(String who, String request) {
  /** The author of a change that Tollgate did not make, or whose row does not name its author. */
  public static final Author UNKNOWN = new Author("unknown", "unknown");

  private static final String REPAIR = "repair/";
  private static final int MAX_WHO = 512;
  private static final int MAX_REQUEST = 128;

  /**
   * Checks both texts.
   *
   * @throws InvalidValue if one is empty, too long or not on one line
   */
  public Author {
    check("who", who, MAX_WHO);
    check("request", request, MAX_REQUEST);
  }

  private static void check(String field, String text, int most) {
    InvalidValue.unless(
        !text.isBlank() && text.length() <= most && text.chars().noneMatch(Character::isISOControl),
        field,
        text,
        "1 to " + most + " characters on one line");
  }

  /**
   * The author with these texts, shortened and on one line. An empty text becomes {@code unknown}:
   * no name of a caller makes a request fail.
   */
  public static Author of(String who, String request) {
    return new Author(clean(who, MAX_WHO), clean(request, MAX_REQUEST));
  }

  /** This author as one who repairs drift: its changes restore what was set before. */
  public Author repairing() {
    return of(who, REPAIR + request);
  }

  /** Whether its changes repair drift. */
  public boolean isRepairing() {
    return request.startsWith(REPAIR);
  }

  private static String clean(String text, int most) {
    String line = text.replaceAll("\\p{Cntrl}", "?").strip();
    return line.isEmpty() ? "unknown" : line.substring(0, Math.min(most, line.length()));
  }
}
