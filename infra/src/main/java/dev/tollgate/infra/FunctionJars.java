package dev.tollgate.infra;

import java.nio.file.Path;

/**
 * Where the code of the functions lies: one shaded jar for each module that holds handlers.
 *
 * @param handlers the session API, the authorizer and the routes of the WebSocket API
 * @param tokenProducer the function that fills buckets
 * @param controlPlane the onboarding API and its sweep
 * @param processor the message processor, together with the handler that it calls; the jar of the
 *     other handlers, which has the sample's, if nobody brings a handler of their own
 * @param console the sample client, the operator's page, and the function that serves them
 */
public record FunctionJars(
    Path handlers, Path tokenProducer, Path controlPlane, Path processor, Path console) {

  /**
   * The places where Maven leaves the jars, in a checkout of Tollgate whose top is {@code root}.
   */
  public static FunctionJars under(Path root) {
    Path handlers = jar(root, "handlers");
    return new FunctionJars(
        handlers,
        jar(root, "token-producer"),
        jar(root, "control-plane"),
        handlers,
        jar(root, "console"));
  }

  /** The same with another jar for the message processor. */
  public FunctionJars withProcessor(Path jar) {
    return new FunctionJars(handlers, tokenProducer, controlPlane, jar, console);
  }

  private static Path jar(Path root, String module) {
    return root.resolve(module).resolve("target").resolve("tollgate-" + module + ".jar");
  }
}
