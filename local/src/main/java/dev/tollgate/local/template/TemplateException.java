package dev.tollgate.local.template;

/** An error in the template, or something that is not supported. The message names the place. */
public final class TemplateException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param place logical id and path, such as {@code Queue.Properties.Tags}
   * @param what the problem
   */
  public TemplateException(String place, String what) {
    super(place + ": " + what);
  }
}
