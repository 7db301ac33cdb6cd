package dev.tollgate.local.template;

/** Something in the template that has no meaning here; the message names the place. */
public final class TemplateException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param place logical id and path, such as {@code Queue.Properties.Tags}
   * @param what what is wrong there
   */
  public TemplateException(String place, String what) {
    super(place + ": " + what);
  }
}
