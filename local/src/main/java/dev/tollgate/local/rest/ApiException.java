package dev.tollgate.local.rest;

/** A request that an API refuses, with the HTTP status and error code of the service model. */
public final class ApiException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;

  /**
   * @param code the name of the exception in the service model, such as {@code ConflictException}
   */
  public ApiException(int status, String code, String message) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** The error of a member that breaks a constraint of the service model. */
  public static ApiException validation(String message) {
    return new ApiException(400, "ValidationException", message);
  }

  /**
   * The error of one member that breaks a constraint of the service model.
   *
   * @param at the member, such as {@code target.arn}
   */
  public static ApiException validation(String at, String value, String constraint) {
    return validation(
        "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s"
            .formatted(value, at, constraint));
  }

  /** The error of a member of the wrong type. */
  public static ApiException serialization(String message) {
    return new ApiException(400, "SerializationException", message);
  }

  /** The error of a reference to a resource that does not exist. */
  public static ApiException notFound(String message) {
    return new ApiException(404, "ResourceNotFoundException", message);
  }

  /** The name of the exception in the service model. */
  public String code() {
    return code;
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }

  /** The message, which is never absent. */
  public String text() {
    return String.valueOf(getMessage());
  }
}
