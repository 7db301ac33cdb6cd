package dev.tollgate.cli.context;

import dev.tollgate.cli.http.Failure;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A named deployment.
 *
 * @param outputs the deployment's outputs file, an absolute path
 * @param stack the stack in that file
 * @param url the control plane's URL when the context was added; a file that names another URL is
 *     refused, because another deployment has overwritten it
 * @param region the AWS Region to sign requests for; empty for the default
 * @param profile the AWS profile to sign requests with; empty for the default
 * @param production whether commands that change the deployment ask for the context's name
 */
public record Context(
    String name,
    Path outputs,
    String stack,
    URI url,
    Optional<String> region,
    Optional<String> profile,
    boolean production) {
  /** The context of the local cloud, which {@code tollgate up} maintains. */
  public static final String LOCAL = "local";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

  public Context {
    if (!NAME.matcher(name).matches()) {
      throw Failure.usage(
          "Context name: "
              + name
              + " (expected: letters, digits, dots, hyphens and underscores, up to 63)");
    }
  }

  /** A context for the deployment that an outputs file describes now. */
  public static Context of(
      String name,
      Outputs outputs,
      Optional<String> region,
      Optional<String> profile,
      boolean production) {
    return new Context(
        name, outputs.file(), outputs.stack(), outputs.controlPlane(), region, profile, production);
  }

  /** The deployment in one line for a person, without a look at its outputs file. */
  public String description() {
    return Target.description(name, production, url, region);
  }

  /**
   * The outputs of this context's deployment.
   *
   * @throws Failure if the file does not exist or describes another deployment
   */
  Outputs read() {
    Outputs read = Outputs.read("context " + name, outputs, Optional.of(stack));
    if (!Endpoint.of(read.controlPlane()).equals(Endpoint.of(url))) {
      throw Failure.usage(
          "Context `%s` is for the deployment %s, but %s now describes %s. %s"
              .formatted(name, url, outputs, read.controlPlane(), remedy()));
    }
    return read;
  }

  private String remedy() {
    return name.equals(LOCAL)
        ? "Start the local cloud again with `./tollgate up`."
        : "If the deployment has moved, remove the context with `tollgate context remove "
            + name
            + "` and add it again.";
  }
}
