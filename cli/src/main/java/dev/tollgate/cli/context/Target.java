package dev.tollgate.cli.context;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The deployment that a command addresses.
 *
 * @param context the name of its context; empty if the command names an outputs file that no
 *     production context uses
 * @param production whether a context marks this deployment as production
 * @param region the AWS Region to sign requests for; empty for the default
 * @param profile the AWS profile to sign requests with; empty for the default
 */
public record Target(
    Optional<String> context,
    boolean production,
    Outputs outputs,
    Optional<String> region,
    Optional<String> profile) {

  /** A copy with another Region and profile, where they are present. */
  public Target signedFor(Optional<String> otherRegion, Optional<String> otherProfile) {
    return new Target(
        context, production, outputs, otherRegion.or(() -> region), otherProfile.or(() -> profile));
  }

  /**
   * The deployment in one line for a person, for example {@code prod (PRODUCTION,
   * https://api.example.com, eu-west-1)}.
   */
  public String description() {
    return description(
        context.orElseGet(() -> outputs.file().toString()),
        production,
        outputs.controlPlane(),
        region);
  }

  static String description(String name, boolean production, URI url, Optional<String> region) {
    List<String> facts = new ArrayList<>();
    if (production) {
      facts.add("PRODUCTION");
    }
    facts.add(url.toString().replaceFirst("/+$", ""));
    region.ifPresent(facts::add);
    return name + " (" + String.join(", ", facts) + ")";
  }
}
