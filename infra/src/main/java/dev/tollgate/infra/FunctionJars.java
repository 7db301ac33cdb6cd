package dev.tollgate.infra;

import java.nio.file.Path;

/**
 * Where the code of the functions lies: one shaded jar for each module that holds handlers.
 *
 * @param handlers the session API, the authorizer and the routes of the WebSocket API
 * @param tokenProducer the function that fills buckets
 * @param controlPlane the onboarding API and its sweep
 */
public record FunctionJars(Path handlers, Path tokenProducer, Path controlPlane) {

  /**
   * The places where Maven leaves the jars, in a checkout of Tollgate whose top is {@code root}.
   */
  public static FunctionJars under(Path root) {
    return new FunctionJars(
        jar(root, "handlers"), jar(root, "token-producer"), jar(root, "control-plane"));
  }

  private static Path jar(Path root, String module) {
    return root.resolve(module).resolve("target").resolve("tollgate-" + module + ".jar");
  }
}
