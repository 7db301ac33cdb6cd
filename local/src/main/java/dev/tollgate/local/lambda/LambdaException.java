package dev.tollgate.local.lambda;

/** What Lambda's API refuses to do, and how it says so. */
public final class LambdaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String type;

  private LambdaException(int status, String type, String message) {
    super(message);
    this.status = status;
    this.type = type;
  }

  /** A value that cannot be right, whatever there is. */
  public static LambdaException validation(String member, String value, String expected) {
    return new LambdaException(
        400,
        "ValidationException",
        "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s"
            .formatted(value, member, expected));
  }

  /** A value that does not fit what there is. */
  public static LambdaException invalid(String message) {
    return new LambdaException(400, "InvalidParameterValueException", message);
  }

  /** Something that is not there. */
  public static LambdaException notFound(String message) {
    return new LambdaException(404, "ResourceNotFoundException", message);
  }

  /** Something that is there already. */
  public static LambdaException conflict(String message) {
    return new LambdaException(409, "ResourceConflictException", message);
  }

  /** A change to what somebody else has changed since. */
  static LambdaException stale() {
    return new LambdaException(
        412,
        "PreconditionFailedException",
        "The Revision Id provided does not match the latest Revision Id. "
            + "Call the GetFunction/GetAlias API to retrieve the latest Revision Id");
  }

  static LambdaException unreadable() {
    return new LambdaException(
        400, "InvalidRequestContentException", "Could not parse request body into json");
  }

  static LambdaException unknownOperation() {
    return new LambdaException(404, "UnknownOperationException", "");
  }

  int status() {
    return status;
  }

  String type() {
    return type;
  }
}
