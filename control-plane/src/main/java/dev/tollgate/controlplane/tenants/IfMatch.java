package dev.tollgate.controlplane.tenants;

import dev.tollgate.core.InvalidValue;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which versions of a tenant or a tier a request is meant for: its header {@code If-Match} (RFC
 * 9110, 13.1.1). An entity tag is a version between quotes, so it stands for what is desired, not
 * for levels and counts that are told beside it.
 *
 * @param tags the tags, or {@code *} for whatever stands; empty if the request does not say
 */
public record IfMatch(Optional<Set<String>> tags) {
  /** A request that is meant for whatever stands, or for nothing. */
  static final IfMatch UNSAID = new IfMatch(Optional.empty());

  private static final String ANY = "*";
  private static final String EXPECTED = "an etag as GET answers it, such as \"7\" with its quotes";
  private static final Pattern TAG =
      Pattern.compile("\\G[ \\t]*((?:W/)?\"[^\"\\x00-\\x20\\x7f]*\")[ \\t]*(?:,|\\z)");

  /** Copies the tags. */
  public IfMatch {
    tags = tags.map(Set::copyOf);
  }

  /**
   * What a header says.
   *
   * @throws InvalidValue if it is no list of entity tags
   */
  public static IfMatch of(Optional<String> header) {
    return header.map(IfMatch::parsed).orElse(UNSAID);
  }

  private static IfMatch parsed(String header) {
    String text = header.strip();
    if (text.equals(ANY)) {
      return new IfMatch(Optional.of(Set.of(ANY)));
    }
    Set<String> tags = new HashSet<>();
    int end = 0;
    Matcher tag = TAG.matcher(text);
    while (tag.find()) {
      tags.add(tag.group(1));
      end = tag.end();
    }
    boolean wellFormed = !tags.isEmpty() && end == text.length() && !text.endsWith(",");
    InvalidValue.unless(wellFormed, "If-Match", header, EXPECTED);
    return new IfMatch(Optional.of(tags));
  }

  /** The entity tag of a version. */
  public static String etag(long version) {
    return "\"" + version + "\"";
  }

  /**
   * Whether the request is meant for this.
   *
   * @param version the version that stands; empty if there is nothing
   */
  public boolean holds(Optional<Long> version) {
    if (tags.isEmpty()) {
      return true;
    }
    Set<String> wanted = tags.get();
    return version
        .filter(stands -> wanted.contains(ANY) || wanted.contains(etag(stands)))
        .isPresent();
  }
}
