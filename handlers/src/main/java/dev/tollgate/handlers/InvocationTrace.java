package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.Context;
import java.util.Optional;

/** The trace header that Lambda gives to an invocation. */
public final class InvocationTrace {
  private InvocationTrace() {}

  /**
   * The header, or an empty text.
   *
   * <p>Lambda's runtime client sets a documented system property before each invocation. A host
   * that runs several functions in one process cannot do that, and passes the header in the
   * context.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime">Defined
   *     runtime environment variables</a>
   */
  public static String header(Context context) {
    String property = System.getProperty("com.amazonaws.xray.traceHeader");
    if (property != null) {
      return property;
    }
    try {
      return Optional.ofNullable(context.getXrayTraceId()).orElse("");
    } catch (NoSuchMethodError older) {
      // A runtime may contain an interface from before this method existed.
      return "";
    }
  }
}
