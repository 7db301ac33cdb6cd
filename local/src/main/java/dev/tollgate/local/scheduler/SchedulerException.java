package dev.tollgate.local.scheduler;

/** A request that the Scheduler refuses, with the error code and status of the service model. */
public final class SchedulerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;
  private final int status;

  private SchedulerException(String code, int status, String message) {
    super(message);
    this.code = code;
    this.status = status;
  }

  static SchedulerException validation(String message) {
    return new SchedulerException("ValidationException", 400, message);
  }

  static SchedulerException serialization(String message) {
    return new SchedulerException("SerializationException", 400, message);
  }

  static SchedulerException unknownOperation() {
    return new SchedulerException("UnknownOperationException", 404, "");
  }

  static SchedulerException notFound(String message) {
    return new SchedulerException("ResourceNotFoundException", 404, message);
  }

  static SchedulerException conflict(String message) {
    return new SchedulerException("ConflictException", 409, message);
  }

  /** The name of the exception in the service model, such as {@code ConflictException}. */
  public String code() {
    return code;
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }
}
