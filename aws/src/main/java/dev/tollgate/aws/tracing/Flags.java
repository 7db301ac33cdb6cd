package dev.tollgate.aws.tracing;

/** The members of a document that say how its work ended. */
final class Flags {
  static final String NONE = "";
  static final String ERROR = ",\"error\":true";
  static final String THROTTLED = ERROR + ",\"throttle\":true";
  static final String FAULT = ",\"fault\":true";

  private static final int TOO_MANY_REQUESTS = 429;

  private Flags() {}

  static String ofStatus(int status) {
    if (status == TOO_MANY_REQUESTS) {
      return THROTTLED;
    }
    return status >= 500 ? FAULT : status >= 400 ? ERROR : NONE;
  }
}
